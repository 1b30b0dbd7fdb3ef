/** Chats in tabs, as Cursor kept them until the end of 2024 and Windsurf after it: a tab has bubbles, of a person or of the model. */
import type { JsonObject } from "../../model/json.ts"
import { momentOf, nonEmptyOf, nonEmptyStringAt, nonEmptyTextUnder, pathInUrl } from "../extract.ts"
import type { Note } from "../notes.ts"
import { textPart } from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import type { SourceValue } from "../source-value.ts"
import { type Spot, valueUnder, wordUnder } from "../spot.ts"
import type { Known } from "./listed-document.ts"
import { idUnder, listUnder, type WorkspaceChat, type WorkspaceShape } from "./workspace-chats.ts"

export const TABS: WorkspaceShape = {
  keys: ["workbench.panel.aichat.view.aichat.chatdata", "aiChat.chatdata"],
  chatsOf: tabsIn,
  folder: "tabs",
}

/** Many tabs, or the one chat of a workspace. */
function tabsIn(value: JsonObject, workspace: string): readonly WorkspaceChat[] {
  const tabs = listUnder(value, "tabs")?.items ?? []
  const requests = listUnder(value, "requests")
  const only = requests && { id: idUnder(value, "sessionId") ?? `workspace-${workspace}`, ...requests }
  const found = tabs.flatMap((tab) => {
    const bubbles = listUnder(tab, "bubbles")
    const id = bubbles && idUnder(tab as JsonObject, "tabId")
    return bubbles === undefined || id === undefined || bubbles.items.length === 0 ? [] : [{ id, ...bubbles }]
  })
  return only === undefined || only.items.length === 0 ? found : [...found, only]
}

export function tabStart(document: SourceValue): Known {
  const chat: SourceValue = valueUnder(document, "chat") ?? null
  return {
    createdAt: momentOf(chat, "createdAt") ?? momentOf(chat, "creationDate") ?? momentOf(chat, "lastSendTime"),
    project: workspaceFolder(document),
  }
}

export function workspaceFolder(document: SourceValue): Known["project"] {
  const folder = nonEmptyStringAt(document, "workspace", "folder")
  return folder && (pathInUrl(folder) ?? folder)
}

export function tabTitle(document: SourceValue): string | undefined {
  const chat = valueUnder(document, "chat")
  return wordUnder(chat, "chatTitle") ?? wordUnder(chat, "customTitle")
}

export function bubbleId(bubble: SourceValue): ReturnType<typeof nonEmptyOf> {
  return nonEmptyOf(bubble, "id") ?? nonEmptyOf(bubble, "requestId")
}

const PERSON = new Set(["1", "user", "human"])
const MODEL = new Set(["2", "ai", "assistant", "bot"])

/** Of a bubble a part that is rich text stays in its record beside the plain one. */
export function tabDrafts(bubble: Spot, note: Note): MessageDraft[] {
  const kind = String(valueUnder(bubble.value, "type") ?? "").toLowerCase()
  const text = ["text", "rawText", "initText"]
    .map((key) => nonEmptyTextUnder(bubble, key))
    .find((each) => each !== undefined)
  if (!PERSON.has(kind) && !MODEL.has(kind)) note("unknown_record", `a bubble of type ${kind || "none"}`)
  else if (text !== undefined) {
    const parts = [textPart({ provenance: "conversational", text })]
    const model = wordUnder(bubble.value, "modelType")
    return PERSON.has(kind)
      ? [{ role: "user", parts }]
      : [{ role: "assistant", parts, pond: model === undefined ? undefined : { model } }]
  }
  return []
}
