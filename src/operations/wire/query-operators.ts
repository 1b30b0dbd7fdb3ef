/**
 * What people type into other search engines, understood in a query: `-word`, `NOT word`, `OR`, `user:`, `project:web`,
 * `after:2026-01-31`; and days that it names in words. What was understood is said in the answer, so that whoever meant
 * the letters can put them in double quotes.
 */
import { microsOfText } from "../../model/timestamp.ts"
import type { TimeSpan } from "../../search/request.ts"
import { parseMoment } from "./date-words.ts"

export interface OperatorFilters {
  readonly project?: { readonly contains: string }
  readonly source_agent?: string
  readonly role?: string
  readonly from_date?: string
  readonly to_date?: string
}

export interface ReadQuery {
  /** Without its operators. */
  readonly query: string
  readonly filters: OperatorFilters
  /** Words that no hit may have. */
  readonly without: readonly string[]
  readonly around: TimeSpan | undefined
  /** What was understood, in words. */
  readonly understood: readonly string[]
}

const FIELDS: Readonly<Record<string, keyof OperatorFilters>> = {
  role: "role",
  project: "project",
  agent: "source_agent",
  client: "source_agent",
  from: "from_date",
  after: "from_date",
  since: "from_date",
  to: "to_date",
  before: "to_date",
  until: "to_date",
}

const ROLES = ["user", "assistant"]
/** Quoted texts stay as they are. */
const TOKEN = /"[^"]*"|\S+/g
const PLAIN_WORD = /^[\p{L}\p{N}]+[?!.,]?$/u

/** Words about the search and not about what is searched for: nearly every session has them somewhere. */
const LEAD_IN = /^(?:the|that|which) (session|conversation|chat) (?:where|in which|when|about)(?: we| i)? (?=\S+ \S)/i

export function readOperators(query: string, nowMs: number): ReadQuery {
  const [lead = "", kind] = LEAD_IN.exec(query) ?? []
  const tokens = query.slice(lead.length).match(TOKEN) ?? []
  const state: Reading = { kept: [], without: [], filters: {}, said: [], nowMs, isPlain: isPlainQuery(tokens) }
  if (kind !== undefined) state.said.push(`"${lead.trim()}": searched for a ${kind.toLowerCase()}, not for these words`)
  for (let at = 0; at < tokens.length; at++) {
    const [token = "", next = ""] = [tokens[at], tokens[at + 1]]
    if (token === "NOT" && PLAIN_WORD.test(next) && at > 0) {
      leaveOut(state, next)
      at += 1
    } else if (!readToken(state, token, { isInside: at > 0 && next !== "" })) state.kept.push(token)
  }
  // Nothing is left to search for: then the operators were meant as words.
  if (state.kept.length === 0) return { query, filters: {}, without: [], around: undefined, understood: [] }
  const rest = state.kept.join(" ")
  const days =
    state.filters.from_date === undefined && state.filters.to_date === undefined ? daysIn(rest, nowMs) : undefined
  return {
    query: state.said.length === 0 ? query : rest,
    filters: state.filters,
    without: state.without,
    around: days?.span,
    understood: days === undefined ? state.said : [...state.said, `${days.text}: messages from then come first`],
  }
}

interface Reading {
  readonly kept: string[]
  readonly without: string[]
  readonly said: string[]
  readonly nowMs: number
  readonly isPlain: boolean
  filters: OperatorFilters
}

function isPlainQuery(tokens: readonly string[]): boolean {
  const others = tokens.filter((token) => !NEGATED.test(token))
  return others.length > 0 && others.every((token) => token.startsWith('"') || PLAIN_WORD.test(token))
}

function leaveOut(state: Reading, word: string): void {
  const bare = word.replace(/[?!.,]$/, "")
  state.without.push(bare)
  state.said.push(`without "${bare}"`)
}

/** Flags of commands begin with a hyphen too: beside a path, another flag or a short one, the hyphen is meant as it is. */
const NEGATED = /^-(\p{L}{4,})$/u

function readToken(state: Reading, token: string, { isInside }: { readonly isInside: boolean }): boolean {
  if ((token === "OR" || token === "AND") && isInside) {
    state.said.push(token === "OR" ? "OR: any of the words counts" : "AND: messages with all of the words come first")
    return true
  }
  const negated = state.isPlain ? NEGATED.exec(token)?.[1] : undefined
  if (negated !== undefined) {
    leaveOut(state, negated)
    return true
  }
  const starred = /^(\p{L}{2,})\*$/u.exec(token)?.[1]
  if (starred !== undefined) {
    state.kept.push(starred)
    state.said.push(`${token}: words always match by their beginning`)
    return true
  }
  const [, name = "", value = ""] = /^([a-z]+):(.*)$/.exec(token) ?? []
  return name !== "" && readField(state, name, value)
}

function readField(state: Reading, name: string, value: string): boolean {
  if (ROLES.includes(name)) {
    if (state.filters.role !== undefined) return false
    state.filters = { ...state.filters, role: name }
    state.said.push(`role ${name}`)
    if (value !== "") state.kept.push(value)
    return true
  }
  const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
  if (field === undefined || value === "" || state.filters[field] !== undefined) return false
  if (field === "role" && !ROLES.includes(value)) return false
  if (field.endsWith("_date") && momentOf(value, "start", state.nowMs) === undefined) return false
  state.filters = { ...state.filters, [field]: field === "project" ? { contains: value } : value }
  state.said.push(`${name} ${value}`)
  return true
}

// --- Days in words ------------------------------------------------------------------------------------------------------

const MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
/** A month alone may be a name or a verb (May, March), so it needs a word before it. */
const DAYS = new RegExp(
  `\\b(?:(yesterday|today|(?:last|this) (?:week|month|year)|\\d{1,3} (?:days?|weeks?) ago|\\d{4}-\\d\\d(?:-\\d\\d)?)|(?:in|since|during|from|last) ((?:${MONTHS})(?: \\d{4})?)|(?:on|since|from) (\\d{1,2} (?:${MONTHS})(?: \\d{4})?))\\b`,
  "i",
)

function daysIn(query: string, nowMs: number): { readonly text: string; readonly span: TimeSpan } | undefined {
  const found = DAYS.exec(query.replace(/"[^"]*"/g, " "))
  const text = found?.[1] ?? found?.[2] ?? found?.[3]
  if (text === undefined) return undefined
  const [, month = "", year] = new RegExp(`^(${MONTHS}) (\\d{4})$`, "i").exec(text) ?? []
  const number = MONTHS.split("|").indexOf(month.toLowerCase()) + 1
  const typed = year === undefined ? text : `${year}-${String(number).padStart(2, "0")}`
  const [from, to] = [momentOf(typed, "start", nowMs), momentOf(typed, "end", nowMs)]
  return from === undefined || to === undefined ? undefined : { text, span: { fromMicros: from, toMicros: to } }
}

function momentOf(text: string, edge: "start" | "end", nowMs: number): bigint | undefined {
  try {
    const moment = parseMoment({ flag: "query", text, edge }, nowMs)
    return moment === undefined ? undefined : microsOfText(moment)
  } catch {
    // A word that is no date is a word.
    return undefined
  }
}
