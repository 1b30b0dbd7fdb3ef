/**
 * The live conversation of a session: what Claude Code would send to its model if the session went on now.
 * The records form a tree by `uuid` and `parentUuid`. The branch that ends with the newest message is the live one; a
 * compaction is a new root. Blocks of one reply and the results of parallel calls hang side by side in that tree, so a
 * reply is made whole again by its message id, and its results follow it.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Part, SessionLog } from "../../model/session.ts"
import { lazy } from "../../platform/lazy.ts"
import { valueAt } from "../extract.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { isSideRecord } from "./records.ts"

/** One record of the session's own log, with the messages that were made of it. */
interface Node {
  readonly uuid: string | undefined
  readonly record: JsonObject
  readonly entries: readonly Entry[]
}

export function context(log: SessionLog): readonly Entry[] {
  const nodes = nodesOf(log)
  const own = nodes.filter(({ record }) => !isSideRecord(record))
  // The log of an agent is a side chain from its first record to its last.
  const chained = own.some(isTurn) ? own : nodes
  const leaf = chained.findLast(isTurn)
  if (leaf === undefined) return []
  const branch = withPreserved(branchTo(leaf, chained), chained)
  const whole = withWholeReplies(branch, chained)
  return withPairs(sentIn(whole), callsCutOff(whole))
}

// --- The tree ---------------------------------------------------------------------------------------------------------

function nodesOf(log: SessionLog): Node[] {
  const nodes: Node[] = []
  for (const { newest, entries } of entriesByRecord(log)) {
    const { file, record } = sourceOf(newest)
    if (file !== undefined || !isJsonObject(record)) continue
    const node = { uuid: textOf(record["uuid"]), record, entries }
    if (node.uuid !== undefined || isTurn(node)) nodes.push(node)
  }
  return nodes
}

function branchTo(leaf: Node, nodes: readonly Node[]): Node[] {
  const byUuid = new Map<string, Node>()
  for (const node of nodes) if (node.uuid !== undefined && !byUuid.has(node.uuid)) byUuid.set(node.uuid, node)
  const branch = new Set<Node>()
  const before = lazy(() => new Map(nodes.map((node, index) => [node, nodes[index - 1]])))
  for (let node: Node | undefined = leaf; node !== undefined && !branch.has(node); ) {
    branch.add(node)
    const parent: JsonValue | undefined = node.record["parentUuid"]
    // Null is a root: a first prompt, a compaction, a restart. A parent that is not there (a lost line) is bridged.
    if (parent === null) break
    node = (typeof parent === "string" ? byUuid.get(parent) : undefined) ?? before().get(node)
  }
  return [...branch].reverse()
}

/** A compaction keeps the newest messages as they were: they lie before its boundary, and are sent behind its summary. */
function withPreserved(branch: readonly Node[], nodes: readonly Node[]): Node[] {
  const boundary = branch.find(({ record }) => record["subtype"] === "compact_boundary")
  const preserved = boundary === undefined ? undefined : preservedBy(boundary.record, nodes)
  if (preserved === undefined) return [...branch]
  const anchor = branch.findIndex(({ uuid }) => uuid === preserved.anchor)
  const onBranch = new Set(branch)
  const kept = preserved.nodes.filter((node) => !onBranch.has(node))
  return anchor < 0 ? [...branch] : [...branch.slice(0, anchor + 1), ...kept, ...branch.slice(anchor + 1)]
}

function preservedBy(boundary: JsonObject, nodes: readonly Node[]): { anchor: string; nodes: Node[] } | undefined {
  const messages = valueAt(boundary, "compactMetadata", "preservedMessages")
  const segment = valueAt(boundary, "compactMetadata", "preservedSegment")
  if (isJsonObject(messages) && Array.isArray(messages["uuids"])) {
    const uuids = new Set<JsonValue>(messages["uuids"])
    const anchor = textOf(messages["anchorUuid"])
    const kept = nodes.filter(({ uuid }) => uuid !== undefined && uuids.has(uuid))
    return anchor === undefined ? undefined : { anchor, nodes: kept }
  }
  if (!isJsonObject(segment)) return undefined
  const anchor = textOf(segment["anchorUuid"])
  const tail = nodes.find(({ uuid }) => uuid !== undefined && uuid === segment["tailUuid"])
  if (anchor === undefined || tail === undefined) return undefined
  const branch = branchTo(tail, nodes)
  const head = branch.findIndex(({ uuid }) => uuid === segment["headUuid"])
  return head < 0 ? undefined : { anchor, nodes: branch.slice(head) }
}

// --- Replies ----------------------------------------------------------------------------------------------------------

/** Each reply once, all its blocks together, and behind it the results of its calls that hang on other blocks. */
function withWholeReplies(branch: readonly Node[], nodes: readonly Node[]): Node[] {
  const { replies, results } = repliesIn(nodes)
  const onBranch = new Set(branch)
  const whole = new Set<Node>()
  for (const node of branch) {
    const id = replyOf(node)
    const blocks = (id === undefined ? undefined : replies.get(id)) ?? [node]
    for (const block of blocks) whole.add(block)
    for (const part of partsIn(blocks)) {
      const result = part.type === "tool_call" ? results.get(part.call_id) : undefined
      if (result !== undefined && !onBranch.has(result)) whole.add(result)
    }
  }
  const superseded = supersededBy(whole)
  return [...whole].filter(({ uuid }) => uuid === undefined || !superseded.has(uuid))
}

function supersededBy(nodes: Iterable<Node>): Set<JsonValue> {
  const superseded = new Set<JsonValue>()
  for (const { record } of nodes) {
    const uuids = record["supersedesUuids"]
    if (Array.isArray(uuids)) for (const uuid of uuids) superseded.add(uuid)
    else if (uuids !== undefined) superseded.add(uuids)
  }
  return superseded
}

function repliesIn(nodes: readonly Node[]): { replies: Map<string, Node[]>; results: Map<string, Node> } {
  const replies = new Map<string, Node[]>()
  const results = new Map<string, Node>()
  for (const node of nodes) {
    const id = replyOf(node)
    const blocks = id === undefined ? undefined : replies.get(id)
    if (blocks !== undefined) blocks.push(node)
    else if (id !== undefined) replies.set(id, [node])
    for (const part of partsIn([node]))
      if (part.type === "tool_result" && !results.has(part.call_id)) results.set(part.call_id, node)
  }
  return { replies, results }
}

function replyOf({ record }: Node): string | undefined {
  return record["type"] === "assistant" ? textOf(valueAt(record, "message", "id")) : undefined
}

/** Not with lists of lists: a long session has a hundred thousand of them. */
function* partsIn(holders: Iterable<{ readonly entries: readonly Entry[] }>): Generator<Part> {
  for (const { entries } of holders) for (const { parts } of entries) yield* parts
}

// --- What is sent -----------------------------------------------------------------------------------------------------

/** Errors of the API stand in the transcript for the person alone, and so does what is marked for it. */
function sentIn(nodes: readonly Node[]): Entry[] {
  const sent: Entry[] = []
  for (const { record, entries } of nodes) {
    if (record["isApiErrorMessage"] === true) continue
    if (record["isVisibleInTranscriptOnly"] === true && record["isCompactSummary"] !== true) continue
    for (const entry of entries) if (entry.message.role !== "system" && entry.parts.length > 0) sent.push(entry)
  }
  return sent
}

/** The calls of the reply that the log ends with. Those that ran when the client died are sent, as interrupted. */
function callsCutOff(nodes: readonly Node[]): ReadonlySet<string> {
  const last = nodes.findLast((node) => isTurn(node) && !isResults(node))
  const id = last === undefined ? undefined : replyOf(last)
  const reply = id === undefined ? [last] : nodes.filter((node) => replyOf(node) === id)
  const cutOff = new Set<string>()
  for (const part of partsIn(reply.filter((node) => node !== undefined)))
    if (part.type === "tool_call") cutOff.add(part.call_id)
  return cutOff
}

function isResults(node: Node): boolean {
  const parts = [...partsIn([node])]
  return parts.length > 0 && parts.every(({ type }) => type === "tool_result")
}

/** Else a call without a result is not sent, and a result without a call never: no model accepts them. */
function withPairs(entries: readonly Entry[], cutOff: ReadonlySet<string>): Entry[] {
  const called = new Set<string>()
  const answered = new Set<string>()
  for (const part of partsIn([{ entries }])) {
    if (part.type === "tool_call") called.add(part.call_id)
    else if (part.type === "tool_result") answered.add(part.call_id)
  }
  const sentResults = new Set<string>()
  const isSent = (part: Part): boolean => {
    if (part.type === "tool_call") return answered.has(part.call_id) || cutOff.has(part.call_id)
    if (part.type !== "tool_result") return true
    if (!called.has(part.call_id) || sentResults.has(part.call_id)) return false
    sentResults.add(part.call_id)
    return true
  }
  const paired: Entry[] = []
  for (const entry of entries) {
    const sent = (entry.parts as readonly Part[]).filter(isSent)
    if (sent.length === entry.parts.length) paired.push(entry)
    else if (sent.length > 0) paired.push({ ...entry, parts: sent } as Entry)
  }
  return paired
}

function isTurn({ record }: Pick<Node, "record">): boolean {
  return record["type"] === "user" || record["type"] === "assistant"
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined
}
