/**
 * aider to canonical: prompts, answers, and what the program said between them. Prompts get their moments from the history of
 * what was typed, by their texts; everything else has the moment of its session. Reads top to bottom: files, then blocks.
 */
import type { JsonObject } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  fingerprintOfText,
  latinTextOfFile,
  localMomentInText,
  matchesIn,
  matchIn,
  nonEmptyTextUnder,
  plain,
  type Sealed,
  sealedFolder,
  sealedModifiedAt,
  textOfFile,
} from "../extract.ts"
import { injectedText, textPart } from "../parts.ts"
import { type MessageDraft, mainFileOf } from "../session-writer.ts"
import { type Known, type ListedReading, listedDocument } from "../shared/listed-document.ts"
import type { SourceValue } from "../source-value.ts"
import { type Spot, wordUnder } from "../spot.ts"
import { documentOf, IDENTITY, markdownOf, STARTED } from "./history.ts"

export const BRAND = { id: "aider", title: "aider" }

/** Main file first, and then what was typed: nothing is certain before that came. */
export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const held: RawRecord[] = []
  return {
    push: (raw) => held.push(raw),
    end(isSettled) {
      const typed = held.filter(({ file }) => file.relativePath.endsWith(TYPED)).flatMap(typedIn)
      const chat = held.find(({ file }) => file.relativePath === main.relativePath)
      const text = chat && historyIn(chat)
      const inner = listedDocument(readingOf(main.relativePath, known(unit, text), typed)).parse(unit, sink, resume)
      for (const raw of held.splice(0)) inner.push(raw)
      inner.end(isSettled)
      return { state: null, clientVersions: versionsIn(text) }
    },
  }
}

/** For what needs no more than the form. */
export const history = listedDocument(readingOf("", {}, []))

function readingOf(main: string, session: Known, typed: Typed[]): ListedReading {
  return {
    brand: BRAND,
    key: "blocks",
    start: () => session,
    facts: (block) => ({ timestamp: momentOfPrompt(block, typed) }),
    drafts,
    text: {
      read: (raw) => ("text" in raw && raw.file.relativePath === main ? documentOf(raw.text) : undefined),
      write: (document: JsonObject) => markdownOf(document),
    },
  }
}

function historyIn(raw: RawRecord): Sealed<string> | undefined {
  if (raw.form === "bytes") return latinTextOfFile(raw)
  return "text" in raw ? textOfFile(raw) : undefined
}

/** The clock of the machine has no zone: see `localMomentInText`. */
function known(unit: SourceUnit, text: Sealed<string> | undefined): Known {
  const main = mainFileOf(unit)
  const identity = text && matchIn(text, IDENTITY)
  return {
    id: identity && fingerprintOfText(identity),
    createdAt: localMomentInText(text && matchIn(text, STARTED)) ?? sealedModifiedAt(main),
    project: sealedFolder(main),
    title: text && matchIn(text, TITLE),
  }
}

/** What pond writes above a session of another client. */
const TITLE = /^> Title: (.+?) *$/m

function versionsIn(text: Sealed<string> | undefined): readonly string[] {
  const found = text === undefined ? [] : plain(text).matchAll(/^> Aider v([\w.+-]+)/gm)
  return [...new Set([...found].map(([, version = ""]) => version))]
}

// --- What was typed -------------------------------------------------------------------------------------------------------

const TYPED = ".aider.input.history"

interface Typed {
  readonly text: string
  readonly moment: Sealed<string> | undefined
  isTaken?: true
}

/** What came from the command line is written down twice at once. */
function typedIn(raw: RawRecord): Typed[] {
  if (raw.form !== "text") return []
  const entries = matchesIn(textOfFile(raw), /^# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\n((?:\+[^\n]*\n?)+)/gm)
  const typed = entries.map(([, moment, lines]) => ({
    text: (lines === undefined ? "" : plain(lines)).replace(/^\+/gm, "").trimEnd(),
    moment: localMomentInText(moment),
  }))
  return typed.filter(({ text, moment }, at) => {
    const before = typed[at - 1]
    return before?.text !== text || secondOf(before.moment) !== secondOf(moment)
  })
}

function secondOf(moment: Sealed<string> | undefined): string {
  return moment === undefined ? "" : plain(moment).slice(0, 19)
}

function momentOfPrompt(block: SourceValue, typed: readonly Typed[]): Sealed<string> | undefined {
  const prompt = wordUnder(block, "prompt")?.trimEnd()
  const found = prompt === undefined ? undefined : typed.find(({ text, isTaken }) => !isTaken && text === prompt)
  if (found !== undefined) found.isTaken = true
  return found?.moment
}

// --- Blocks ---------------------------------------------------------------------------------------------------------------

function drafts(block: Spot): MessageDraft[] {
  const prompt = nonEmptyTextUnder(block, "prompt")
  if (prompt !== undefined) return [{ role: "user", parts: [textPart({ provenance: "conversational", text: prompt })] }]
  const told = nonEmptyTextUnder(block, "told")
  if (told !== undefined) return [{ role: "user", parts: [injectedText(told, "local-command")] }]
  const text = nonEmptyTextUnder(block, "text")
  if (text === undefined) return []
  const model = wordUnder(block.value, "model")
  const pond = model === undefined ? undefined : { model }
  return [{ role: "assistant", pond, parts: [textPart({ provenance: "conversational", text })] }]
}
