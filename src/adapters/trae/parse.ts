/** Trae to canonical: a chat has messages of a person and of the model, whose work stands beside its text. */
import { momentOf, momentOfSeconds, nonEmptyOf, nonEmptyTextUnder, type Placed } from "../extract.ts"
import type { Note } from "../notes.ts"
import { textPart } from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { workspaceFolder } from "../shared/chat-tabs.ts"
import { type Known, listedDocument, spoken } from "../shared/listed-document.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, valueUnder, wordUnder } from "../spot.ts"

export const BRAND = { id: "trae", title: "Trae" }

export const chat = listedDocument({
  brand: BRAND,
  key: "messages",
  start,
  title: (document) => wordUnder(valueUnder(document, "chat"), "title"),
  facts: (item) => ({ id: nonEmptyOf(item, "id"), timestamp: eitherMoment(item, "timestamp") }),
  drafts,
})

function start(document: SourceValue): Known {
  const own: SourceValue = valueUnder(document, "chat") ?? null
  const createdAt = eitherMoment(own, "createdAt") ?? eitherMoment(own, "updatedAt")
  return { createdAt, project: workspaceFolder(document) }
}

const MILLISECONDS_MIN = 1e11

/** A text, seconds or milliseconds. */
function eitherMoment(holder: SourceValue, key: string): ReturnType<typeof momentOf> {
  const value = valueUnder(holder, key)
  const isSeconds = typeof value === "number" && value < MILLISECONDS_MIN
  return isSeconds ? momentOfSeconds(holder, key) : momentOf(holder, key)
}

function drafts(message: Spot, note: Note): MessageDraft[] {
  const role = wordUnder(message.value, "role")?.toLowerCase()
  const text = nonEmptyTextUnder(message, "content")
  if (role === "user")
    return spoken({ role, parts: text === undefined ? [] : [textPart({ provenance: "conversational", text })] })
  if (role === "assistant") {
    const texts = text === undefined ? workTexts(message) : [text]
    const model = wordUnder(message.value, "model")
    const pond = model === undefined || model === "" ? undefined : { model }
    return spoken({ role, pond, parts: texts.map((each) => textPart({ provenance: "conversational", text: each })) })
  }
  note("unknown_record", `a message of ${role ?? "nobody"}`)
  return []
}

/** Of an answer without a text what its agent proposed, or the plan that it made. */
function workTexts(message: Spot): readonly Placed<string>[] {
  const whole = nonEmptyTextUnder(message, "agentTaskContent")
  const work = inside(message, "agentTaskContent")
  if (whole !== undefined || work === undefined) return whole === undefined ? [] : [whole]
  const said = ["content", "text", "proposal"].flatMap((key) => nonEmptyTextUnder(work, key) ?? []).slice(0, 1)
  const guideline = inside(work, "guideline")
  const plan = itemsOf(guideline && inside(guideline, "planItems")).flatMap(
    (item) => nonEmptyTextUnder(item, "content") ?? [],
  )
  return said.length > 0 ? said : plan
}
