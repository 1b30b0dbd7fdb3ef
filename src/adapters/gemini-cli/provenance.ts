/**
 * Which text in the user's slot a person typed, and which the client put there. It keeps what was typed beside what was
 * sent (`displayContent`) where the two differ, and marks most of what it adds with tags. Knows text, no records.
 */
import { type Placed, splitAt } from "../extract.ts"
import { injectedText, type PartDraft, textPart } from "../parts.ts"

/** Texts that the client writes as a whole, by how they begin. */
const OPENINGS: readonly (readonly [opening: string, injected: string])[] = [
  ["<session_context>", "environment-context"],
  ["This is the Gemini CLI. We are setting up the context for our chat.", "environment-context"],
  ["<state_snapshot>", "compact-summary"],
  ["You have stopped calling tools without finishing", "nudge"],
]

/** What the client answers in the model's place when it has summed up a chat. */
const ACKNOWLEDGEMENT = "Got it. Thanks for the additional context!"

const FILES_BEGIN = "\n--- Content from referenced files ---"
const FILES_END = "\n--- End of content ---"
const HOOK = /<hook_context>[\s\S]*?<\/hook_context>/g
/** A command of a person, run by the client. */
const SHELL = /^(I ran the following shell command:\n```sh\n)([\s\S]*?)(\n```\n\nThis produced the following result:\n)/

/** Reads the texts of one message in order. */
export interface UserTexts {
  parts(text: Placed<string>): PartDraft<"text">[]
}

/** `typed` is what a person typed, where the message says it; `isOnly`, whether what was sent is one text around it. */
export function createUserTexts(typed: readonly string[] | undefined, isOnly: boolean): UserTexts {
  let isInFiles = false
  return {
    parts(text) {
      const { value } = text
      const opening = OPENINGS.find(([start]) => value.startsWith(start))?.[1]
      if (opening !== undefined) return [injectedText(text, opening)]
      if (isInFiles || value.startsWith(FILES_BEGIN)) {
        isInFiles = !value.endsWith(FILES_END)
        return [injectedText(text, "file-content")]
      }
      if (typed !== undefined && !typed.includes(value))
        return cutAt(text, isOnly ? typedStart(value, typed) : 0, "expansion")
      const shell = SHELL.exec(value)
      if (shell !== null) return shellParts(text, shell)
      const files = value.indexOf(FILES_BEGIN)
      return files > 0 ? cutAt(text, files, "file-content") : withoutHooks(text)
    },
  }
}

/** What the model never said, in its slot. */
export function isAcknowledgement(text: string): boolean {
  return text === ACKNOWLEDGEMENT
}

function authored(text: Placed<string>): PartDraft<"text"> {
  return textPart({ provenance: "conversational", text })
}

/** How much of the beginning was typed. */
function typedStart(value: string, typed: readonly string[]): number {
  return Math.max(0, ...typed.filter((each) => value.startsWith(each)).map(({ length }) => length))
}

function cutAt(text: Placed<string>, at: number, injected: string): PartDraft<"text">[] {
  if (at === 0) return [injectedText(text, injected)]
  const [first, rest] = splitAt(text, [at])
  return first === undefined || rest === undefined ? [authored(text)] : [authored(first), injectedText(rest, injected)]
}

function shellParts(text: Placed<string>, [, before = "", command = ""]: RegExpExecArray): PartDraft<"text">[] {
  const [opening, typed, ...rest] = splitAt(text, [before.length, before.length + command.length])
  if (opening === undefined || typed === undefined) return [authored(text)]
  const own = textPart({ provenance: "conversational", text: typed, pond: { shell: "command" } })
  return [injectedText(opening, "bash-output"), own, ...rest.map((piece) => injectedText(piece, "bash-output"))]
}

function withoutHooks(text: Placed<string>): PartDraft<"text">[] {
  const found = [...text.value.matchAll(HOOK)].map((match) => [match.index, match.index + match[0].length] as const)
  if (found.length === 0) return [authored(text)]
  let at = 0
  return splitAt(text, found.flat()).map((piece) => {
    const start = at
    at += piece.value.length
    return found.some(([from]) => from === start) ? injectedText(piece, "hook") : authored(piece)
  })
}
