/**
 * The live conversation of a pi session: the path from the current leaf to the root, the newest compaction on it applied,
 * edits of the context applied, and what the client never sends left out. Reads kept records, never the disk.
 * The prompt of pi itself (its `system` messages from 0.87 on) is not part of the conversation: it is made anew.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Part, SessionLog } from "../../model/session.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { picturesIn, withPictures } from "./pictures.ts"

/** One entry of the tree, and the message that it became or the carrier that holds it alone. */
interface Node {
  readonly id: string | undefined
  readonly parentId: string | undefined
  readonly type: string
  readonly record: JsonObject
  readonly entry: Entry | undefined
}

interface Tree {
  readonly nodes: readonly Node[]
  /** v1 had no ids: its entries are one line. pi makes a line of any log that says no version. */
  readonly isLine: boolean
  /** The current leaf, where the log says it. Otherwise it is the last entry. */
  readonly leafId: string | undefined
}

export function context(log: SessionLog): readonly Entry[] {
  const tree = readTree(log)
  const pictures = picturesIn(log)
  const sent = compacted(tree, branchOf(tree))
  const edits = new Map<string, JsonValue>()
  for (const { type, record } of sent) {
    const { targetId, replacement } = record
    if (type === "context_edit" && typeof targetId === "string") edits.set(targetId, replacement ?? null)
  }
  const entries: Entry[] = []
  for (const [index, node] of sent.entries()) {
    if (!isSent(node) || (node.type === "compaction" && index > 0)) continue
    const edit = node.id === undefined ? undefined : edits.get(node.id)
    if (edit === null) continue
    const entry = isJsonObject(edit) ? withContent(node.entry, edit["content"] ?? null) : node.entry
    entries.push(withPictures(entry, pictures))
  }
  return withoutOrphans(entries)
}

// --- The tree ---------------------------------------------------------------------------------------------------------

function readTree(log: SessionLog): Tree {
  const nodes: Node[] = []
  const leaves = new Map<string, string | undefined>()
  let isLine = false
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record } = sourceOf(newest)
    const writes = (Array.isArray(record) ? record : [record]).filter(isJsonObject)
    for (const write of writes) {
      if (write["type"] === "session") isLine = Number(write["version"] ?? 1) < 2
      noteLeaf(write, leaves)
      const node = nodeOf(write, entries, !Array.isArray(record))
      if (node !== undefined) nodes.push(node)
    }
  }
  return {
    nodes: nodes.filter(({ type }) => type !== "leaf"),
    isLine,
    leafId: leafMovedTo(nodes) ?? leaves.get("main"),
  }
}

/** Of OpenClaw: where the leaf was moved to, unless something was said there since. */
function leafMovedTo(nodes: readonly Node[]): string | undefined {
  const last = nodes.findLast(({ id }) => id !== undefined)
  return last?.type === "leaf" ? textOr(last.record["targetId"]) : undefined
}

/** v4 knows several lanes, and says where each of them stands. The one that people see is `main`. */
function noteLeaf(write: JsonObject, leaves: Map<string, string | undefined>): void {
  const { kind, lane, id, leafId, namespace, key, value } = write
  if (kind === "entry" && typeof lane === "string") leaves.set(lane, textOr(id))
  if (kind === "lane" && typeof lane === "string") leaves.set(lane, textOr(leafId))
  if (kind === "value" && namespace === "pi.branch.tip" && typeof key === "string") leaves.set(key, textOr(value))
}

function nodeOf(write: JsonObject, entries: readonly Entry[], isAlone: boolean): Node | undefined {
  const { kind, seq, type, id, parentId } = write
  const isBookkeeping = seq !== undefined && kind !== "entry"
  if (typeof type !== "string" || type === "session" || type === "title" || isBookkeeping) return undefined
  // Of writes that were committed together, those that are no messages have no separate entry.
  const alone = isAlone ? entries[0] : undefined
  const entry = entries.find(({ message }) => message.id === id) ?? alone
  return { id: textOr(id), parentId: textOr(parentId), type, record: write, entry }
}

function textOr(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined
}

/** From the root to the current leaf. */
function branchOf({ nodes, isLine, leafId }: Tree): Node[] {
  if (isLine) return [...nodes]
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const path: Node[] = []
  const met = new Set<Node>()
  let next = (leafId === undefined ? undefined : byId.get(leafId)) ?? nodes.at(-1)
  while (next !== undefined && !met.has(next)) {
    met.add(next)
    path.push(next)
    next = next.parentId === undefined ? undefined : byId.get(next.parentId)
  }
  return path.reverse()
}

// --- Compaction -------------------------------------------------------------------------------------------------------

/** The newest compaction of the path first, then what it kept of the path before it, then what came after it. */
function compacted(tree: Tree, path: readonly Node[]): readonly Node[] {
  const at = path.findLastIndex(({ type }) => type === "compaction" || type === "reset_boundary" || type === "reset")
  const compaction = path[at]
  if (compaction === undefined) return path
  // `/clear` of oh-my-pi: nothing before it is sent.
  if (compaction.type === "reset_boundary") return path.slice(at + 1)
  // `/new` and `/reset` of OpenClaw keep what they name.
  if (compaction.type === "reset") return [...keptBy(compaction, tree, path.slice(0, at)), ...path.slice(at + 1)]
  return [compaction, ...keptBy(compaction, tree, path.slice(0, at)), ...path.slice(at + 1)]
}

function keptBy({ record }: Node, { nodes, isLine }: Tree, before: readonly Node[]): readonly Node[] {
  const { firstKeptEntryId, firstKeptEntryIndex, retainedTail } = record
  // v4 repeats the messages that it keeps; they are the last ones of the path.
  if (Array.isArray(retainedTail)) {
    const messages = before.filter(({ type }) => type === "message")
    return retainedTail.length === 0 ? [] : messages.slice(-retainedTail.length)
  }
  // v1 counts the records of the file, its header too.
  const counted = isLine && typeof firstKeptEntryIndex === "number" ? nodes[firstKeptEntryIndex - 1] : undefined
  const first = before.findIndex((node) => node === counted || (node.id !== undefined && node.id === firstKeptEntryId))
  return first < 0 ? [] : before.slice(first)
}

// --- What is sent -----------------------------------------------------------------------------------------------------

/** Answers that broke off are not sent again: the client starts from the last one that was whole. */
const BROKEN_OFF = new Set<JsonValue | undefined>(["error", "aborted", "deferred"])

type SentNode = Node & { readonly entry: Entry }

function isSent(node: Node): node is SentNode {
  const { record, entry } = node
  if (entry === undefined || entry.message.role === "system" || entry.parts.length === 0) return false
  const message = record["message"]
  if (!isJsonObject(message)) return true
  if (message["role"] === "assistant") return !BROKEN_OFF.has(message["stopReason"])
  return message["excludeFromContext"] !== true
}

/** The same message with the content that was put in its place. */
function withContent(entry: Entry, content: JsonValue): Entry {
  const [model] = entry.parts
  if (model === undefined) return entry
  if (model.type === "tool_result") return { ...entry, parts: [{ ...model, result: content }] } as Entry
  const blocks = Array.isArray(content) ? content : [content]
  const { session_id, message_id, provenance } = model
  const parts = blocks.flatMap((block: JsonValue, index): Part[] => {
    const common = { id: `${message_id}:${index}`, session_id, message_id, provenance, options: {} }
    const { text, data, mimeType } = isJsonObject(block) ? block : { text: block }
    if (typeof text === "string") return [{ ...common, type: "text", text }]
    if (typeof data !== "string" || typeof mimeType !== "string") return []
    return [{ ...common, type: "file", media_type: mimeType, data: { base64: data } }]
  })
  return { ...entry, parts } as Entry
}

/** A result without its call (an edit or an answer that broke off took it) is nothing that a model can read. */
function withoutOrphans(entries: readonly Entry[]): Entry[] {
  const called = new Set<string>()
  return entries.filter(({ parts }) => {
    for (const part of parts) if (part.type === "tool_call") called.add(part.call_id)
    return parts.every((part) => part.type !== "tool_result" || called.has(part.call_id))
  })
}
