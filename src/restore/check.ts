/**
 * Before a restore touches a client's directory, what it would write is written elsewhere, found by the client's own
 * source, parsed, and compared with what it is to say. A restore that cannot be read back is never written.
 */
import type { Adapter, Conversation, OutputFile, OutputLine, OutputRow, SourceUnit } from "../adapters/adapter.ts"
import { resolve } from "../adapters/shared/resolve.ts"
import { PondError } from "../model/errors.ts"
import { differingPointer, isJsonObject, type JsonValue, parseJson, stringifyJson } from "../model/json.ts"
import type { Entry, Session, SessionLog } from "../model/session.ts"
import { withoutSuperseded } from "../model/superseded.ts"
import { flatRows } from "../platform/files/foreign-sqlite-writer.ts"
import { between, madeValues } from "../platform/memory.ts"
import { type Copy, messageOfCopy } from "../sessions/write/copies.ts"
import { editsBetween } from "./edit-distance.ts"
import { createOutputFiles, outputOptionsOf } from "./output-files.ts"
import { type ExpectedItems, type RestorePlan, withoutRecord } from "./plan.ts"
import { shortItems } from "./transcript-items.ts"
import { bodiesOf, createPieces, type WrittenLog } from "./write-native.ts"

/** What was learned by reading it back. */
export interface Checked {
  /** The sessions that are copies of others, as a sync will read them: a native restore writes none. */
  readonly copies: readonly Copy[]
  /** The versions of its client that wrote what a native restore gives back. */
  readonly clientVersions: readonly string[]
}

export async function checkDraft(plan: RestorePlan, folder: string): Promise<Checked> {
  const { target, proof } = plan
  const {
    difference,
    copies = [],
    clientVersions = [],
  }: Partial<Checked> & { readonly difference: string | undefined } = proof.fidelity === "native"
    ? await checkNative(target, proof.written, folder)
    : await foreignDifference(plan, folder)
  if (difference === undefined) return { copies, clientVersions }
  throw new PondError(
    "internal",
    `The converted session does not read back correctly (${difference}). Nothing was written. Please report this.`,
    {
      details: { difference },
    },
  )
}

interface UnitSink {
  readonly session: (session: Session) => void
  readonly entry: (entry: Entry) => void
}

const ROW_BYTES = 16_384

async function readUnit(adapter: Adapter, unit: SourceUnit, sink: UnitSink): Promise<readonly string[]> {
  const parser = adapter.parse(unit, { ...sink, issue: () => undefined })
  for await (const { records, bytes } of resolve(adapter, unit)) {
    for (const record of records) parser.push(record)
    // How many bytes a row took in its database is not known.
    madeValues(bytes === 0 ? records.length * ROW_BYTES : bytes, records.length)
  }
  return parser.end(true).clientVersions
}

// --- Native: the same records, and the same parts ----------------------------------------------------------------------

/** The first difference between these sessions and what is read back of them below the folder. */
export async function checkNative(
  target: Adapter,
  logs: readonly WrittenLog[],
  folder: string,
): Promise<Pick<Checked, "clientVersions"> & { readonly difference: string | undefined }> {
  const differences = new Map<string, string | undefined>()
  const versions = new Set<string>()
  for await (const unit of target.source.plan(folder)) {
    if (!("files" in unit)) continue
    const { id, difference, clientVersions } = await unitDifference(target, unit, logs)
    if (id === undefined) continue
    differences.set(id, difference)
    for (const version of clientVersions) versions.add(version)
  }
  return { difference: firstDifference(logs, differences), clientVersions: [...versions] }
}

function firstDifference(
  logs: readonly WrittenLog[],
  differences: ReadonlyMap<string, string | undefined>,
): string | undefined {
  for (const { session } of logs) {
    if (!differences.has(session.id)) return `the session ${session.id} is not found in what was written`
    const difference = differences.get(session.id)
    if (difference !== undefined) return `${session.id} at ${difference}`
  }
  return undefined
}

interface UnitDifference {
  readonly id?: string
  readonly difference?: string | undefined
  readonly clientVersions: readonly string[]
}

/** A piece at a time: of a long log no more is held than what its own client's serializer holds of it. */
async function unitDifference(
  target: Adapter,
  unit: SourceUnit,
  written: readonly WrittenLog[],
): Promise<UnitDifference> {
  const pieces = createPieces()
  const found: { session?: Session; proving?: Proving } = {}
  const clientVersions = await readUnit(target, unit, {
    session: (begun) => {
      const want = written.find((each) => each.session.id === begun.id)
      found.session = begun
      if (want !== undefined) found.proving = createProving(target, want, begun)
    },
    entry: (entry) => {
      const piece = found.proving && pieces.add(entry)
      if (piece !== undefined) found.proving?.add(piece)
    },
  })
  const { session, proving } = found
  if (session === undefined || proving === undefined) return { clientVersions }
  proving.add(pieces.rest())
  return { id: session.id, difference: proving.end(), clientVersions }
}

interface Proving {
  add(entries: readonly Entry[]): void
  /** The first difference, as a JSON pointer. */
  end(): string | undefined
}

/** A log that was written, and how far it was found again. */
interface ProvedLog {
  readonly lines: Iterator<OutputLine>
  readonly length: number
  count: number
}

function createProving(target: Adapter, { files, bodies }: WrittenLog, session: Session): Proving {
  const places = files.map(({ relativePath }) => relativePath)
  const logs = new Map<string, ProvedLog>()
  for (const file of files) {
    if (file.form !== "log") continue
    const { lines } = file
    logs.set(file.relativePath, { lines: lines[Symbol.iterator](), length: lines.length, count: 0 })
  }
  // Lines are compared as they come, and let go.
  const others = createOutputFiles(outputOptionsOf(target))
  let difference: string | undefined
  const serializer = target.serialize.native(session, {
    line: (relativePath, line) => {
      if (difference !== undefined) return
      const log = logs.get(relativePath)
      const at = places.indexOf(relativePath)
      if (log === undefined) difference = at < 0 ? `a file ${relativePath}` : `/${at}/form`
      else if (isSameLine(log.lines.next().value, line)) log.count++
      else difference = `/${at}/lines/${log.count}`
    },
    row: others.row,
    file: others.file,
  })

  function fileDifference(want: OutputFile, index: number, back: ReadonlyMap<string, OutputFile>): string | undefined {
    const log = logs.get(want.relativePath)
    if (log !== undefined) return log.count === log.length ? undefined : `/${index}/lines/${log.count}`
    const got = back.get(want.relativePath)
    if (got === undefined) return `/${index}`
    const at =
      want.form === "database" && got.form === "database"
        ? differingPointer(comparableRows(want), comparableRows(withColumnsOf(want, got)))
        : differingPointer(want as unknown as JsonValue, got as unknown as JsonValue)
    return at === undefined ? undefined : `/${index}${at}`
  }

  return {
    add: (entries) => {
      if (difference !== undefined) return
      serializer.push(entries)
      for (const { message, parts } of entries) {
        const want = bodies.get(message.id)
        if (want !== undefined && want !== bodiesOf(parts)) difference ??= `the parts of the message ${message.id}`
      }
    },
    end: () => {
      serializer.end()
      const back = new Map(others.files().map((file) => [file.relativePath, file]))
      for (const path of back.keys()) if (!places.includes(path)) difference ??= `a file ${path}`
      for (const [index, file] of files.entries()) difference ??= fileDifference(file, index, back)
      return difference
    },
  }
}

function isSameLine(want: OutputLine | undefined, got: OutputLine): boolean {
  if (typeof want === "string" || typeof got === "string") return want === got
  return want !== undefined && Buffer.compare(want, got) === 0
}

/**
 * Rows of a database have no order, and which of them stand inside others is only how they were read: those of a session
 * that grew are stored as they came, and read back table by table.
 */
function comparableRows(file: RowsOfFile): JsonValue {
  const keyed = [...flatRows(file)].map((row) => ({ row, key: stringifyJson(row as unknown as JsonValue) }))
  const rows = keyed.toSorted((left, right) => (left.key < right.key ? -1 : 1)).map(({ row }) => row)
  return { ...file, rows } as unknown as JsonValue
}

type RowsOfFile = Extract<OutputFile, { form: "database" }>

/**
 * Clients add columns to their tables. A column that a row of an older version never had comes back with its default from a
 * database that has it, and says nothing.
 */
function withColumnsOf(want: RowsOfFile, got: RowsOfFile): RowsOfFile {
  const nameOf = ({ table, row }: OutputRow) =>
    stringifyJson([table, ...(want.schema.keys[table] ?? []).map((column) => row[column] ?? null)])
  const columns = new Map([...flatRows(want)].map((each) => [nameOf(each), each.row]))
  const rows = [...flatRows(got)].map((each) => {
    const own = columns.get(nameOf(each))
    if (own === undefined) return each
    return { ...each, row: Object.fromEntries(Object.entries(each.row).filter(([column]) => column in own)) }
  })
  return { ...got, rows }
}

// --- Foreign: the same conversation, but for the losses ------------------------------------------------------------------

/**
 * The session and each of its sub-agents must tell, in the target's own reading, what they told before: the same items in the
 * same order. Each loss that the target's serializer named accounts for one item, gone or become another, and no more.
 */
async function foreignDifference(plan: RestorePlan, folder: string): Promise<ForeignDifference> {
  const { target, proof, sessionId, losses } = plan
  if (proof.fidelity !== "foreign") return { difference: undefined }
  const written = await writtenBelow(target, folder)
  const own = written.get(sessionId)
  if (own === undefined) return { difference: `the session ${sessionId} is not found in what was written` }
  const agents = [...written].flatMap(([id, { items }]) => (id === sessionId ? [] : [items]))
  const { missing, first } = nearest(proof.told, [own.items])
  if (missing > proof.told.allowed) return { difference: `${proof.told.sessionId}: ${first}` }
  const lost = unheld(proof.told, agents)
  const named = losses.filter(({ kind }) => kind === "subagent").length
  if (lost.length > named) return { difference: `the sub-agent ${lost.join(", ")}` }
  // What agents said is marked as the conversation's: which of them each is tells no reader more.
  const copyOf = proof.told.sessionId
  const copies = [...written].map(([id, { messages }]) => ({ sessionId: id, copyOf, messages }))
  return { difference: undefined, copies }
}

interface ForeignDifference {
  readonly difference: string | undefined
  readonly copies?: readonly Copy[]
}

type Items = readonly string[]

interface WrittenSession {
  /** What it tells. */
  readonly items: Items
  readonly messages: Copy["messages"]
}

/** Each session that was written. One after the other is held, and let go. */
async function writtenBelow(target: Adapter, folder: string): Promise<Map<string, WrittenSession>> {
  const written = new Map<string, WrittenSession>()
  for await (const unit of target.source.plan(folder)) {
    if (!("files" in unit)) continue
    const messages = new Set<string>()
    const onEntry = (entry: Entry) => messages.add(messageOfCopy(entry))
    const back = (await backByPieces(target, unit, onEntry)) ?? (await backWhole(target, unit, onEntry))
    if (back === undefined) continue
    between("passes")
    const { items } = shortItems(back, target.vocabulary, "keep", { keepsSurroundings: true })
    written.set(back.session.id, { items, messages: [...messages] })
  }
  return written
}

type OnEntry = (entry: Entry) => void

/** Nothing where only the whole session tells. */
async function backByPieces(target: Adapter, unit: SourceUnit, onEntry: OnEntry): Promise<Conversation | undefined> {
  const contextOf = target.database?.contextOfPieces?.()
  if (contextOf === undefined) return undefined
  const pieces = createPieces()
  const said: Entry[] = []
  const found: { session?: Session; isWhole?: true } = {}
  const take = (entries: readonly Entry[] | undefined): void => {
    if (entries === undefined || found.session === undefined || found.isWhole) return
    const added = contextOf({ session: found.session, entries })
    if (added === undefined) found.isWhole = true
    else for (const entry of added) said.push(withoutRecord(entry))
  }
  await readUnit(target, unit, {
    session: (begun) => {
      found.session = begun
    },
    entry: (entry) => {
      onEntry(entry)
      if (!found.isWhole) take(pieces.add(entry))
    },
  })
  take(pieces.rest())
  const { session, isWhole } = found
  return session === undefined || isWhole ? undefined : { session, entries: said, children: [], origin: target }
}

async function backWhole(target: Adapter, unit: SourceUnit, onEntry: OnEntry): Promise<Conversation | undefined> {
  const found: { session?: Session } = {}
  const entries: Entry[] = []
  await readUnit(target, unit, {
    session: (begun) => {
      found.session = begun
    },
    entry: (entry) => {
      onEntry(entry)
      entries.push(entry)
    },
  })
  const { session } = found
  if (session === undefined) return undefined
  between("passes")
  return backOf({ session, entries }, target)
}

/** Sub-agents that are nowhere in what was written. What such a one started is lost with it. */
function unheld({ children }: ExpectedItems, agents: readonly Items[]): string[] {
  return children.flatMap((child) => {
    const { missing, first } = nearest(child, agents)
    return missing > child.allowed ? [`${child.sessionId}: ${first}`] : unheld(child, agents)
  })
}

function nearest({ items, ...allowances }: ExpectedItems, tellings: readonly Items[]): Difference {
  const [best = NOWHERE] = tellings
    .map((each) => differenceOf(items, each, allowances))
    .sort((one, other) => one.missing - other.missing)
  return best
}

function backOf(log: SessionLog, target: Adapter): Conversation {
  return { session: log.session, entries: target.context(withoutSuperseded(log), []), children: [], origin: target }
}

const NOWHERE: Difference = { missing: Number.POSITIVE_INFINITY, first: "is not found in what was written" }

interface Difference {
  /** How many items are not there any more; Infinity, where more was said than there was. */
  readonly missing: number
  readonly first: string
}

/** A loss may put one item in the place of another. Only a text that is read in several pieces adds any. */
function differenceOf(
  want: readonly string[],
  have: readonly string[],
  { allowed, added: mayAdd }: Pick<ExpectedItems, "allowed" | "added">,
): Difference {
  const firstAt = want.findIndex((item, index) => !holds(item, have[index] ?? ""))
  if (firstAt < 0 && have.length === want.length) return { missing: 0, first: "" }
  const at = firstAt < 0 ? want.length : firstAt
  const first = `${excerpt(want[at])} became ${excerpt(have[at])}`
  const edits = editsBetween(want, have, 2 * allowed + mayAdd, holds)
  const missing = (edits + want.length - have.length) / 2
  const added = edits - missing
  return { missing: added > missing + mayAdd ? Number.POSITIVE_INFINITY : missing, first }
}

/** A tool of the target may insist on more than the call was given: what was given must all be there. */
function holds(want: string, have: string): boolean {
  if (want === have) return true
  const [ours, theirs] = [CALL.exec(want), CALL.exec(have)]
  if (ours === null || theirs === null || ours[1] !== theirs[1]) return false
  const [given, said] = [ours, theirs].map(([, , params = ""]) => parseJson(params))
  if (!(given?.ok && said?.ok && isJsonObject(given.value) && isJsonObject(said.value))) return false
  const all = said.value
  return Object.entries(given.value).every(([key, value]) => differingPointer(value, all[key] ?? null) === undefined)
}

const CALL = /^call: (\S+) (\{.*\})$/s

function excerpt(item: string | undefined): string {
  return item === undefined ? "nothing" : item.slice(0, 120)
}
