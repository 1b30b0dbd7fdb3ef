/**
 * Where Warp keeps the conversations of its agents: three tables of the database of the whole terminal, in which commands, their
 * output and settings of servers lie as well. Those three are named, and no others are looked at. Where there are more than two
 * hundred conversations, Warp deletes the oldest.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import type { ForeignDatabase, ForeignRow } from "../../platform/files/foreign-sqlite.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import type { CountRetention } from "../capabilities.ts"
import { foldersBelow } from "../shared/folders.ts"
import {
  bytesInCell,
  type DatabaseAt,
  documentId,
  documentUnit,
  isPlainDocument,
  jsonInCell,
  PLAIN_ID,
  plainDocuments,
  planDocuments,
  withDatabase,
} from "../shared/row-documents.ts"
import { wireMessage } from "../shared/wire-message.ts"
import { TASK } from "./messages.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const DATABASE = "warp.sqlite"
const [CONVERSATIONS, TASKS, QUERIES] = ["agent_conversations", "agent_tasks", "ai_queries"] as const
const TABLES = [CONVERSATIONS, TASKS, QUERIES] as const
const FOLDER = "documents"
/** Between the id of a conversation and that of the task of an agent. */
const OF_AGENT = "$"
/** So many conversations Warp keeps, by its source; with each that it deletes go its tasks. */
const KEPT_MAX = 200

/** Nothing for a folder of documents that somebody points at. */
export function retention(root: string): CountRetention | undefined {
  return existsSync(join(root, DATABASE)) ? { sessions: KEPT_MAX } : undefined
}

export function concerns(_root: string, place: string): boolean {
  return place.startsWith(DATABASE)
}

function* plan(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  yield* planDocuments(disk, DATABASE, TABLES, (database, at) => planConversations(root, database, at))
  yield* plainDocuments(disk, FOLDER)
  yield* disk.issues
}

// --- Which conversations there are --------------------------------------------------------------------------------------

interface Met {
  /** What changes with the conversation. */
  readonly marks: string[]
  readonly tasks: string[]
  changed: number
}

function* planConversations(root: string, database: ForeignDatabase, at: DatabaseAt): Generator<SourceUnit | Issue> {
  const met = new Map<string, Met>()
  const note = (id: JsonValue | undefined, when: JsonValue | undefined, ...marks: readonly unknown[]) => {
    const known = met.get(String(id)) ?? { marks: [], tasks: [], changed: 0 }
    known.marks.push([when, ...marks].join(" "))
    known.changed = Math.max(known.changed, momentIn(when))
    met.set(String(id), known)
    return known
  }
  for (const row of rowsIn(database, CONVERSATIONS, ["conversation_id", "last_modified_at"]))
    note(row["conversation_id"], row["last_modified_at"])
  for (const row of rowsIn(database, TASKS, ["conversation_id", "task_id", "last_modified_at"]))
    note(row["conversation_id"], row["last_modified_at"], row["task_id"]).tasks.push(String(row["task_id"]))
  for (const row of rowsIn(database, QUERIES, ["conversation_id", "exchange_id", "start_ts", "output_status"]))
    note(row["conversation_id"], row["start_ts"], row["exchange_id"], row["output_status"])
  for (const [id, { marks, tasks, changed }] of met) {
    const names = agentsOf(database, id, tasks).map((task) => `${id}${OF_AGENT}${task}`)
    if (!PLAIN_ID.test(id)) {
      yield {
        kind: "unknown_record",
        severity: "note",
        file: DATABASE,
        found: "a conversation with an id of another form",
      }
      continue
    }
    const mark = marks.join("\n")
    for (const name of [id, ...names]) {
      const sizeBytes = marks.length * RECORD_BYTES
      yield documentUnit(root, at, { place: `${FOLDER}/${name}.json`, sizeBytes, modifiedMs: changed, mark })
    }
  }
}

/** What a task or a prompt takes at the least. How long each is would be known by reading it. */
const RECORD_BYTES = 8_192

function* rowsIn(database: ForeignDatabase, table: string, columns: readonly string[]): Generator<ForeignRow> {
  if (database.tables.has(table)) yield* database.rows({ table, columns })
}

function momentIn(value: JsonValue | undefined): number {
  return Date.parse(`${String(value).replace(" ", "T").replace(/Z?$/, "Z")}`) || 0
}

/** The tasks of agents that a conversation started. One that is the only task of its conversation needs no look. */
function agentsOf(database: ForeignDatabase, id: string, tasks: readonly string[]): readonly string[] {
  if (tasks.length < 2) return []
  return tasksOf(database, id).flatMap((task) => (isOfAgent(task) ? [task.id] : []))
}

function isOfAgent({ id, parent }: Task): boolean {
  return parent !== undefined && PLAIN_ID.test(id) && id.length < ID_UNITS_MAX
}

const ID_UNITS_MAX = 100

// --- What a conversation says -------------------------------------------------------------------------------------------

interface Task {
  readonly id: string
  readonly isRead: boolean
  readonly parent: string | undefined
  /** Its row without what its bytes say, and what they say without the messages. */
  readonly rest: JsonObject
  readonly messages: readonly JsonValue[]
}

function tasksOf(database: ForeignDatabase, id: string): readonly Task[] {
  if (!database.tables.has(TASKS)) return []
  const rows = database.rows({ table: TASKS, where: { conversation_id: id }, order: ["id"] })
  return [...rows].map(({ task = null, ...row }) => {
    const bytes = bytesInCell(task)
    const read = bytes === undefined ? undefined : wireMessage(bytes, TASK)
    // Bytes that are not a task stand behind the messages of the others, so that they are counted.
    const { messages = [], ...says }: JsonObject = read ?? { messages: [{ bytes: task }] }
    const parent = isJsonObject(says["dependencies"]) ? says["dependencies"]["parent_task_id"] : undefined
    return {
      id: String(row["task_id"]),
      isRead: read !== undefined,
      parent: typeof parent === "string" && parent !== "" ? parent : undefined,
      rest: { row, says },
      messages: Array.isArray(messages) ? (messages as readonly JsonValue[]) : [],
    }
  })
}

export function assemble(file: SourceFile): string | undefined {
  if (isPlainDocument(file)) return undefined
  const [id = "", agent] = documentId(file).split(OF_AGENT)
  return withDatabase(file.path, TABLES, (database) => {
    const tasks = tasksOf(database, id)
    return stringifyJson(
      agent === undefined ? conversationDocument(database, id, tasks) : agentDocument(id, agent, tasks),
    )
  })
}

/** Of several tasks without one above them the one with the most messages counts: others were left behind by a fault of Warp. */
function conversationDocument(database: ForeignDatabase, id: string, tasks: readonly Task[]): JsonObject {
  const where = { conversation_id: id }
  const all = (table: string, order: readonly string[]) =>
    database.tables.has(table) ? [...database.rows({ table, where, order })] : []
  const [row] = all(CONVERSATIONS, ["id"])
  const queries = all(QUERIES, ["start_ts"]).map((query) => ({ ...query, input: jsonInCell(query["input"]) }))
  const conversation = row && {
    ...row,
    conversation_data: jsonInCell(row["conversation_data"]),
    summary: jsonInCell(row["summary"]),
  }
  const own = tasks.filter((task) => !isOfAgent(task))
  const unread = own.flatMap((task) => (task.isRead ? [] : task.messages))
  const [main, ...others] = own
    .filter(({ isRead }) => isRead)
    .toSorted((left, right) => right.messages.length - left.messages.length)
  if (main === undefined) return { conversation: conversation ?? null, messages: [...queries, ...unread] }
  return {
    ...{ conversation: conversation ?? null, task: main.rest },
    ...(others.length === 0 ? {} : { others: others.map(({ rest, messages }) => ({ ...rest, messages })) }),
    ...{ queries, messages: [...main.messages, ...unread] },
  }
}

function agentDocument(id: string, agent: string, tasks: readonly Task[]): JsonObject {
  const task = tasks.find((each) => each.id === agent)
  const calls = tasks.flatMap(({ messages }) => messages.flatMap((message) => callOf(message, agent)))
  return {
    conversation: { conversation_id: id },
    task: task?.rest ?? null,
    ...(calls[0] === undefined ? {} : { started_by: calls[0] }),
    messages: task?.messages ?? [],
  }
}

/** The id of the call that started an agent. */
function callOf(message: JsonValue, agent: string): readonly string[] {
  const call = isJsonObject(message) ? message["tool_call"] : undefined
  const tool = isJsonObject(call) ? call["tool"] : undefined
  const started = isJsonObject(tool) ? tool["subagent"] : undefined
  const id = isJsonObject(call) ? call["id"] : undefined
  return isJsonObject(started) && started["task_id"] === agent && typeof id === "string" ? [id] : []
}
