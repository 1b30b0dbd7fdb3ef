/**
 * What OpenHands would send now: the branch that ends at the live event, without what was summed up, and each summary where it
 * stands. Reads kept records, never the disk.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Part, SessionLog } from "../../model/session.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { isState, kindOf, SUMMED_UP } from "./records.ts"

interface Event {
  readonly id: string
  readonly record: JsonObject
  readonly entries: readonly Entry[]
}

export function context(log: SessionLog): readonly Entry[] {
  const events: Event[] = []
  let leaf: JsonValue | undefined
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record } = sourceOf(newest)
    if (isState(record)) leaf = record["leaf_event_id"]
    else if (isJsonObject(record)) events.push({ id: String(record["id"] ?? ""), record, entries })
  }
  return condensed(branchTo(events, leaf)).flatMap(({ entries, record }) =>
    entries
      .filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
      .map((entry) => asSent(entry, record)),
  )
}

/** What the client puts around a result for its model. */
function asSent(entry: Entry, record: JsonObject): Entry {
  const observation = record["observation"]
  const added = isJsonObject(observation) ? addedTo(observation) : REJECTED[kindOf(record) ?? ""]
  if (added === undefined) return entry
  const parts = entry.parts.map((part: Part): Part => {
    if (part.type !== "tool_result" || typeof part.result !== "string") return part
    return { ...part, result: `${added.before}${part.result}${added.behind}` }
  })
  return { ...entry, parts } as Entry
}

interface Added {
  readonly before: string
  readonly behind: string
}

const REJECTED: Readonly<Record<string, Added>> = {
  UserRejectObservation: { before: "Action rejected: ", behind: "" },
}

function addedTo(observation: JsonObject): Added | undefined {
  const error = observation["is_error"] === true ? "[An error occurred during execution.]\n\n" : ""
  const facts = observation["metadata"]
  if (!isJsonObject(facts)) return error === "" ? undefined : { before: error, behind: "" }
  const { prefix, suffix, working_dir: directory, py_interpreter_path: python, exit_code: code } = facts
  const lines = [
    ...(typeof directory === "string" && directory !== "" ? [`[Current working directory: ${directory}]`] : []),
    ...(typeof python === "string" && python !== "" ? [`[Python interpreter: ${python}]`] : []),
    ...(typeof code === "number" && code !== -1 ? [`[Command finished with exit code ${code}]`] : []),
  ]
  const behind = [typeof suffix === "string" ? suffix : "", ...lines].join("\n")
  return { before: `${error}${typeof prefix === "string" ? prefix : ""}`, behind }
}

/** Logs of before name no parents: they are one branch. */
function branchTo(events: readonly Event[], leaf: JsonValue | undefined): readonly Event[] {
  const byId = new Map(events.map((event) => [event.id, event]))
  const last = events.findLast(({ record }) => "parent_id" in record)
  const live = (typeof leaf === "string" ? byId.get(leaf) : undefined) ?? last
  if (live === undefined || !events.some(({ record }) => typeof record["parent_id"] === "string")) return events
  // A state that was written before the newest events names one of the branch that they are on.
  const from = isBefore(byId, live, last) ? (last ?? live) : live
  const branch = new Set<Event>()
  for (let at: Event | undefined = from; at !== undefined && !branch.has(at); at = parentOf(byId, at)) branch.add(at)
  return events.filter((event) => branch.has(event))
}

function parentOf(byId: ReadonlyMap<string, Event>, { record }: Event): Event | undefined {
  const parent = record["parent_id"]
  return typeof parent === "string" ? byId.get(parent) : undefined
}

function isBefore(byId: ReadonlyMap<string, Event>, event: Event, later: Event | undefined): boolean {
  const met = new Set<Event>()
  for (let at = later; at !== undefined && !met.has(at); at = parentOf(byId, at)) {
    if (at === event) return true
    met.add(at)
  }
  return false
}

function condensed(events: readonly Event[]): readonly Event[] {
  let view: Event[] = []
  for (const event of events) {
    const { record } = event
    if (kindOf(record) !== SUMMED_UP) {
      view.push(event)
      continue
    }
    const forgotten = new Set(Array.isArray(record["forgotten_event_ids"]) ? record["forgotten_event_ids"] : [])
    view = view.filter(({ id }) => !forgotten.has(id))
    // Events that say nothing to the model do not count there.
    const offset = record["summary_offset"]
    const hasSummary = event.entries.some(({ parts }) => parts.length > 0)
    if (hasSummary && typeof offset === "number") view.splice(summaryPlace(view, offset), 0, event)
  }
  return view
}

/** Where so many events that the model gets come before. */
function summaryPlace(view: readonly Event[], offset: number): number {
  let left = offset
  for (const [at, { entries }] of view.entries()) {
    if (left === 0) return at
    if (entries.some(({ message, parts }) => (message.role === "system" ? message.content !== "" : parts.length > 0)))
      left--
  }
  return view.length
}
