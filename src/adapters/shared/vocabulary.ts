/**
 * The neutral tool vocabulary: what a tool call means, whichever client made it. A client's vocabulary is a table of
 * rows, one for each tool that other clients know too; a tool without a row is that client's own and keeps its name.
 * Reading and writing go through the same rows, so a key that one side does not know is named as lost, never dropped unseen.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"

type FieldType = "string" | "array"

/** What each kind of tool cannot be without. Further fields of a kind are those that the rows name. */
const NEEDED = {
  /** command, directory, timeoutMs, purpose, isBackground */
  shell: { command: "string" },
  /** path, offset (first line, from 1), limit (lines) */
  read: { path: "string" },
  view_image: { path: "string" },
  write: { path: "string", content: "string" },
  /** path, edits: [{ old, new, all? }] */
  edit: { path: "string", edits: "array" },
  /** A patch over one or more files, in the `*** Begin Patch` form. */
  patch: { patch: "string" },
  /** pattern, path, glob, ignoreCase, limit */
  grep: { pattern: "string" },
  /** pattern, path, limit */
  glob: { pattern: "string" },
  /** path, limit, ignore */
  list: {},
  /** url, prompt, format */
  fetch: { url: "string" },
  web_search: { query: "string" },
  /** items: [{ text, status: pending | in_progress | completed }], note */
  todo: { items: "array" },
  /** A sub-agent: purpose, prompt, agent, isBackground */
  task: { prompt: "string" },
} as const satisfies Record<string, Readonly<Record<string, FieldType>>>

export type ToolKind = keyof typeof NEEDED

export interface NeutralTool {
  readonly kind: ToolKind
  readonly fields: JsonObject
}

/** A value that stands differently in a client's parameters than in the neutral tool. */
export interface Conversion {
  readonly read: (value: JsonValue) => JsonValue | undefined
  readonly write: (value: JsonValue) => JsonValue | undefined
}

/** One field that a client spreads over several parameters, or the other way round. */
export interface Fold {
  readonly keys: readonly string[]
  readonly fields: readonly string[]
  readonly read: (params: JsonObject) => JsonObject | undefined
  readonly write: (fields: JsonObject) => JsonObject | undefined
}

/** One tool of a client. The first row of a kind is the one that is written; the others are older or other names. */
export interface ToolRow {
  readonly name: string
  readonly kind: ToolKind
  /** Neutral field to parameter. */
  readonly keys: Readonly<Record<string, string | readonly [key: string, conversion: Conversion]>>
  readonly fold?: Fold
  /** Where the parameters are one text (a custom tool), the neutral field that it is. */
  readonly text?: string
  /** A name of the past: read, never written. */
  readonly isRetired?: boolean
}

export type Vocabulary = readonly ToolRow[]

export interface ReadTool {
  readonly tool: NeutralTool
  /** Parameters that the neutral tool does not say. */
  readonly unread: readonly string[]
}

export interface WrittenTool {
  readonly name: string
  readonly params: JsonValue
  /** Neutral fields that this client has no parameter for. */
  readonly unwritten: readonly string[]
}

export function readTool(vocabulary: Vocabulary, name: string, params: JsonValue): ReadTool | undefined {
  for (const row of vocabulary) {
    if (row.name !== name) continue
    const found = readRow(row, params)
    if (found !== undefined) return found
  }
  return undefined
}

export function writeTool(vocabulary: Vocabulary, tool: NeutralTool): WrittenTool | undefined {
  for (const row of vocabulary) {
    if (row.kind !== tool.kind || row.isRetired === true) continue
    const written = writeRow(row, tool.fields)
    if (written !== undefined) return written
  }
  return undefined
}

function readRow(row: ToolRow, params: JsonValue): ReadTool | undefined {
  if (typeof params === "string" && row.text !== undefined)
    return { tool: { kind: row.kind, fields: { [row.text]: params } }, unread: [] }
  if (!isJsonObject(params)) return undefined
  const folded = row.fold?.read(params)
  if (row.fold !== undefined && folded === undefined) return undefined
  const fields: Record<string, JsonValue> = { ...folded }
  const known = new Set(row.fold?.keys)
  for (const [field, place] of Object.entries(row.keys)) {
    const [key, conversion] = typeof place === "string" ? [place, undefined] : place
    const value = params[key]
    if (value === undefined || value === null) continue
    const converted = conversion === undefined ? value : conversion.read(value)
    if (converted === undefined) continue
    fields[field] ??= converted
    known.add(key)
  }
  if (!hasNeededFields(row.kind, fields)) return undefined
  return { tool: { kind: row.kind, fields }, unread: Object.keys(params).filter((key) => !known.has(key)) }
}

function writeRow(row: ToolRow, fields: JsonObject): WrittenTool | undefined {
  if (row.text !== undefined) {
    const text = fields[row.text]
    return text === undefined
      ? undefined
      : { name: row.name, params: text, unwritten: Object.keys(fields).filter((field) => field !== row.text) }
  }
  const folded = row.fold?.write(fields)
  if (row.fold !== undefined && folded === undefined) return undefined
  const params: Record<string, JsonValue> = { ...folded }
  const unwritten: string[] = []
  for (const [field, value] of Object.entries(fields)) {
    if (row.fold?.fields.includes(field)) continue
    const place = row.keys[field]
    const [key, conversion] = typeof place === "object" ? place : [place, undefined]
    const converted = conversion === undefined ? value : conversion.write(value)
    if (key === undefined || converted === undefined) unwritten.push(field)
    else params[key] = converted
  }
  return { name: row.name, params, unwritten }
}

function hasNeededFields(kind: ToolKind, fields: JsonObject): boolean {
  return Object.entries(NEEDED[kind]).every(([field, type]) => {
    const value = fields[field]
    return type === "array" ? Array.isArray(value) : typeof value === "string"
  })
}

// --- Conversions that more than one client needs ----------------------------------------------------------------------

export const seconds: Conversion = {
  read: (value) => (typeof value === "number" ? value * 1000 : undefined),
  write: (value) => (typeof value === "number" ? value / 1000 : undefined),
}

/** A list of objects whose keys are named differently: `[ours, theirs]`. Keys that are not named are lost, so their presence refuses. */
export function listOf(...names: readonly (readonly [ours: string, theirs: string])[]): Conversion {
  const renamed = (value: JsonValue, from: 0 | 1): JsonValue | undefined => {
    if (!Array.isArray(value)) return undefined
    const items: JsonObject[] = []
    for (const item of value) {
      if (!isJsonObject(item)) return undefined
      items.push(
        Object.fromEntries(
          names.flatMap((pair) => {
            const found = item[pair[from]]
            return found === undefined ? [] : [[pair[from === 0 ? 1 : 0], found]]
          }),
        ),
      )
    }
    return items
  }
  return { read: (value) => renamed(value, 1), write: (value) => renamed(value, 0) }
}

/** One edit whose old and new text are separate parameters. It cannot say several edits. */
export function singleEdit(keys: { readonly old: string; readonly new: string; readonly all?: string }): Fold {
  const all = keys.all
  return {
    keys: [keys.old, keys.new, ...(all === undefined ? [] : [all])],
    fields: ["edits"],
    read(params) {
      const before = params[keys.old]
      const after = params[keys.new]
      if (typeof before !== "string" || typeof after !== "string") return undefined
      const every = all === undefined ? undefined : params[all]
      return { edits: [{ old: before, new: after, ...(typeof every === "boolean" ? { all: every } : {}) }] }
    },
    write({ edits }) {
      const [edit] = Array.isArray(edits) ? edits : []
      if (!Array.isArray(edits) || edits.length !== 1 || !isJsonObject(edit)) return undefined
      const { old: before, new: after, all: every } = edit
      if (before === undefined || after === undefined) return undefined
      if (every === true && all === undefined) return undefined
      return {
        [keys.old]: before,
        [keys.new]: after,
        ...(all === undefined || every === undefined ? {} : { [all]: every }),
      }
    },
  }
}
