/**
 * The activity of Gemini Apps to canonical: a record is a prompt with its answer, and no more is known of the conversation that
 * they stood in. Other activity is no prompt, and left out.
 */
import type { Parser, ParseSink, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  matchIn,
  momentOf,
  nonEmptyTextUnder,
  type Placed,
  sealedOrigin,
  sealedRelativePath,
  splitAt,
} from "../extract.ts"
import { filePart, injectedText, type PartDraft, textPart } from "../parts.ts"
import { createSessionWriter, isFilled, type MessageDraft, mainFileOf } from "../session-writer.ts"
import { readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, whole } from "../spot.ts"

export const BRAND = { id: "gemini-app", title: "Gemini app" }

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const place = sealedRelativePath(main)

  function begin(record: SourceValue): void {
    const id = matchIn(place, /([^/]+)\.json$/)
    const product = sealedOrigin(BRAND)
    writer.begin({ id, sourceAgent: product, project: product, createdAt: momentOf(record, "time") })
  }

  return {
    push(raw) {
      const record = readJson(raw, writer)
      begin(record ?? null)
      if (record === undefined) return
      const drafts = draftsOf(whole(record))
      writer.record(raw, record, drafts, { id: place, timestamp: momentOf(record, "time") })
    },
    end: writer.end,
  }
}

/** How Google says in some languages that a prompt follows. Without such a word nothing tells a prompt from other activity. */
export const PROMPTED = /^(?:Prompted|Eingabe:|Gesendeter Prompt:|Requête :|Prompt enviado:)[ \u00a0\u202f]/

function draftsOf(record: Spot): MessageDraft[] {
  const title = nonEmptyTextUnder(record, "title")
  const [word = ""] = title === undefined ? [] : (PROMPTED.exec(title.value) ?? [])
  if (title === undefined || word === "") return []
  const [told, typed] = splitAt(title, [word.length]) as [Placed<string>, Placed<string> | undefined]
  const asked: PartDraft<"text" | "file">[] = [
    injectedText(told, "context"),
    ...(typed === undefined ? [] : [textPart({ provenance: "conversational", text: typed })]),
    ...itemsOf(inside(record, "attachedFiles")).flatMap((_, at) => attachedPart(record, at)),
  ]
  const answer = itemsOf(inside(record, "safeHtmlItem")).flatMap((item) => {
    const html = nonEmptyTextUnder(item, "html")
    return html === undefined ? [] : [textPart({ provenance: "conversational", text: html })]
  })
  return [{ role: "user", parts: asked }, ...(isFilled(answer) ? [{ role: "assistant", parts: answer } as const] : [])]
}

function attachedPart(record: Spot, at: number): PartDraft<"file">[] {
  const list = inside(record, "attachedFiles")
  const url = list && nonEmptyTextUnder(list, at)
  return url === undefined ? [] : [filePart({ provenance: "conversational", mediaType: undefined, data: { url } })]
}
