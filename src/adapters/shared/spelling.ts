/**
 * The spelling of a line, for files in which other files point to a byte. JSON by value is not JSON by length: a Rust
 * client writes `0.0` where `stringifyJson` writes `0`, and every offset behind it would be wrong after a restore.
 * What is kept is small: the numbers that are spelled differently, by their pointers. Only where that is not the whole
 * difference (white space, escapes, a key twice) the line itself is kept.
 */
import {
  isExactNumber,
  type JsonObject,
  type JsonValue,
  numberSpelled,
  pointerKeys,
  pointerToken,
  stringifyJson,
} from "../../model/json.ts"
import { withAt } from "../lift.ts"

/** Pointer to the text of the number there, or the whole line. */
export type Spelling = Readonly<Record<string, string>> | string

/** A fraction that ends in a zero, an exponent, a zero with a sign. Inside strings they cost the slow way, never a wrong value. */
const ODD_NUMBER = /[0-9]\.[0-9]*0[,}\]]|[0-9][eE][-+0-9]|-0[,}\]]/
/** White space between the first key and its value is what every writer that is not terse has. */
const TERSE_OPENING = /^\{"[^"\\]*":[^\s]/

interface SourceText {
  readonly source?: string
}

/** Nothing where `stringifyJson` gives back the line. `value` is what the line parses to. */
export function spellingOf(line: string, value: JsonValue): Spelling | undefined {
  if (!mayDiffer(line) || stringifyJson(value) === line) return undefined
  const exact: JsonValue = JSON.parse(line, keepSpelling as (key: string, value: unknown) => unknown)
  const numbers: Record<string, string> = {}
  collectNumbers(exact, "", numbers)
  return stringifyJson(exact) === line ? numbers : line
}

export function spelled(value: JsonValue, spelling: JsonValue | undefined): string {
  if (typeof spelling === "string") return spelling
  let exact = value
  for (const [pointer, text] of Object.entries((spelling ?? {}) as JsonObject))
    if (typeof text === "string") exact = withAt(exact, pointerKeys(pointer), numberSpelled(text))
  return stringifyJson(exact)
}

function mayDiffer(line: string): boolean {
  return (
    ODD_NUMBER.test(line) ||
    !TERSE_OPENING.test(line) ||
    !line.endsWith("}") ||
    line.includes("\\u") ||
    line.includes("\\/")
  )
}

function keepSpelling(_key: string, value: unknown, context: SourceText): unknown {
  const { source } = context
  return typeof value !== "number" || source === undefined || String(value) === source ? value : numberSpelled(source)
}

function collectNumbers(value: JsonValue, at: string, numbers: Record<string, string>): void {
  if (typeof value !== "object" || value === null) return
  if (isExactNumber(value)) {
    numbers[at] = value.rawJSON
    return
  }
  for (const [key, child] of Object.entries(value)) collectNumbers(child, `${at}/${pointerToken(key)}`, numbers)
}
