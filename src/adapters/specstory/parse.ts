/** SpecStory to canonical: each turn is a message. What a tool did is Markdown for people, and stays the text that it is. */
import type { Parser, ParseSink, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  joined,
  matchIn,
  momentInText,
  momentOf,
  nonEmptyStringAt,
  nonEmptyTextUnder,
  sealedFolder,
  sealedOrigin,
  sealedRelativePath,
} from "../extract.ts"
import { injectedText, type PartDraft, reasoningPart, textPart } from "../parts.ts"
import { type MessageDraft, mainFileOf } from "../session-writer.ts"
import { type ListedReading, listedDocument, spoken } from "../shared/listed-document.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"
import { markdownOf, turnsDocument } from "./markdown.ts"

export const BRAND = { id: "specstory", title: "SpecStory" }

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  return listedDocument(readingOf(unit)).parse(unit, sink, resume)
}

/** For what needs no more than the form. */
export const history = listedDocument(readingOf(undefined))

function readingOf(unit: SourceUnit | undefined): ListedReading {
  return {
    brand: BRAND,
    key: "turns",
    start: (document) => {
      const origin = sealedOrigin(BRAND)
      const main = unit && mainFileOf(unit)
      const place = main && sealedRelativePath(main)
      const name = nonEmptyStringAt(document, "session") ?? (place && matchIn(place, /([^/]+?)(?:\.specstory)?\.md$/))
      const folder = main && sealedFolder(main)
      return {
        // The session itself may be stored as well, and holds more.
        id: name && joined([name, origin], ":"),
        createdAt: momentInText(nonEmptyStringAt(document, "begun")) ?? momentOf(document, "begun"),
        project: folder && (matchIn(folder, /^(.+)\/\.specstory\/history$/) ?? folder),
      }
    },
    facts: (turn) => ({ timestamp: momentOf(turn, "at") }),
    drafts,
    text: {
      read: (raw) => ("text" in raw ? turnsDocument(raw.text) : undefined),
      write: markdownOf,
    },
  }
}

function drafts(turn: Spot): MessageDraft[] {
  const pieces = itemsOf(inside(turn, "pieces"))
  if (wordUnder(turn.value, "speaker") === "User") {
    const parts = pieces.flatMap((piece) => {
      const text =
        nonEmptyTextUnder(piece, "text") ?? nonEmptyTextUnder(piece, "tool") ?? nonEmptyTextUnder(piece, "thought")
      return text === undefined ? [] : [textPart({ provenance: "conversational", text })]
    })
    return spoken({ role: "user", parts })
  }
  const model = wordUnder(turn.value, "model")
  const side = inside(turn, "side") === undefined ? {} : { sidechain: true }
  const pond: Record<string, string | boolean> = { ...(model === undefined ? {} : { model }), ...side }
  const parts = pieces.flatMap((piece): PartDraft<"text" | "reasoning">[] => {
    const text = nonEmptyTextUnder(piece, "text")
    if (text !== undefined) return [textPart({ provenance: "conversational", text })]
    const thought = nonEmptyTextUnder(piece, "thought")
    if (thought !== undefined) return [reasoningPart({ provenance: "conversational", text: thought })]
    const tool = nonEmptyTextUnder(piece, "tool")
    return tool === undefined ? [] : [injectedText(tool, "tool-output")]
  })
  return spoken({ role: "assistant", pond, parts })
}
