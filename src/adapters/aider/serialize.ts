/**
 * aider from canonical: a session is added to the history of its directory, where those of others lie too. One of another client
 * gets a history file for itself (`foreign.ts`), because aider takes up all that a file has.
 */
import { join } from "node:path"
import type { Serialize, WholeFile } from "../adapter.ts"
import { foreign } from "./foreign.ts"
import { history } from "./parse.ts"

export const serialize: Serialize = {
  native: (session, sink) => {
    const files: WholeFile[] = []
    const { push, end } = history.native(session, { ...sink, file: (file) => files.push(file) })
    return {
      push,
      end: () => {
        const ended = end()
        // The history is what a person opens: it comes first.
        for (const file of files.toSorted((left, right) => rankOf(left) - rankOf(right)))
          sink.file(file.form === "text" ? { ...file, isShared: true } : file)
        return ended
      },
    }
  },
  foreign,
  resume: (_, cwd, { relativePath = CHAT, root } = {}) => {
    const file = root === undefined ? relativePath : join(root, relativePath)
    const named = file === CHAT ? [] : ["--chat-history-file", file]
    return {
      command: ["aider", ...named, "--restore-chat-history"],
      cwd,
      ...(named.length === 0 ? { note: NOTE } : {}),
    }
  },
}

const CHAT = ".aider.chat.history.md"
const NOTE = "aider takes up all sessions of that directory, the newest last."

function rankOf({ relativePath }: WholeFile): number {
  return relativePath.endsWith(".md") ? 0 : 1
}
