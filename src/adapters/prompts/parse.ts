/** Prompts to canonical: each is what a person typed. What was answered is not known, and nothing stands for it. */
import {
  joined,
  momentOf,
  momentOfSeconds,
  nonEmptyStringAt,
  nonEmptyTextUnder,
  sealedOrigin,
  valueAt,
} from "../extract.ts"
import { textPart } from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { listedDocument, spoken } from "../shared/listed-document.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, type Spot } from "../spot.ts"
import { type Brand, CLAUDE, CODEX, DAY, LIST } from "./brands.ts"
import { PASTE, PASTED } from "./pastes.ts"

export function promptsCodec(brand: Brand): ReturnType<typeof listedDocument> {
  const origin = sealedOrigin(brand)
  const moment = (line: SourceValue) => momentOf(line, "timestamp") ?? momentOfSeconds(line, "ts")
  return listedDocument({
    brand,
    key: LIST,
    start: (document) => {
      const session = nonEmptyStringAt(document, brand.session)
      const name = session ?? nonEmptyStringAt(document, DAY)
      return {
        id: name && joined([name, origin], ":"),
        // Where its owner erases the session, its prompts go with it.
        parentSessionId: session,
        createdAt: moment(valueAt(document, LIST, 0) ?? null),
        project: nonEmptyStringAt(document, LIST, 0, "project") ?? origin,
      }
    },
    facts: (line) => ({ timestamp: moment(line) }),
    drafts: (line, note) => {
      const drafts = draftsOf(line, brand)
      if (drafts.length === 0) note("unknown_record", "a line without a prompt")
      return drafts
    },
  })
}

function draftsOf(line: Spot, brand: Brand): MessageDraft[] {
  const typed = nonEmptyTextUnder(line, inside(line, PASTE) === undefined ? brand.text : PASTED)
  const pasted = inside(line, "pastedContents")
  // The prompt shows where each stood: [Pasted text #1].
  const texts = Object.keys(fieldsOf(pasted?.value)).flatMap((key) => {
    const each = pasted && inside(pasted, key)
    return (each && nonEmptyTextUnder(each, "content")) ?? []
  })
  const all = [...(typed === undefined ? [] : [typed]), ...texts]
  return spoken({ role: "user", parts: all.map((text) => textPart({ provenance: "conversational", text })) })
}

export const claude = promptsCodec(CLAUDE)
export const codex = promptsCodec(CODEX)
