/**
 * The live conversation of a chat: its messages with patches and rewinds applied, without what the client never sends.
 * A patch that follows a resume repeats all messages in a poorer form; the records that it repeats are taken for it.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { idsIn, kindOf, messagesIn, SHAPE } from "./records.ts"

export function context(log: SessionLog): readonly Entry[] {
  const live: Live = { messages: new Map(), unnamed: 0 }
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record = null } = sourceOf(newest)
    const kind = kindOf(record)
    if (kind === "rewind") rewind(live, record)
    else if (kind === "patch" || kind === "metadata") patch(live, record, kind === "patch")
    else if (kind === "message") setMessage(live, SHAPE.idOf(record), idsIn(record))
    else setMessage(live, undefined, entries.map(storedName))
  }
  return sentOf([...live.messages.values()], entriesById(log))
}

/** The ids under which what each message says is stored, by the id of the message. */
interface Live {
  readonly messages: Map<string, readonly string[]>
  unnamed: number
}

function setMessage(live: Live, id: string | undefined, stored: readonly string[]): void {
  live.messages.set(id ?? `#${live.unnamed++}`, stored)
}

/** Of a document only the ids stand in its header: its messages are separate records. */
function patch(live: Live, record: JsonValue, isWhole: boolean): void {
  const messages = messagesIn(record)
  if (messages === undefined || messages.some((message) => !isJsonObject(message))) return
  if (isWhole) live.messages.clear()
  for (const message of messages) setMessage(live, SHAPE.idOf(message), idsIn(message))
}

/** That message and all behind it; all of them where there is no such message. */
function rewind({ messages }: Live, record: JsonValue): void {
  const to = isJsonObject(record) ? String(record["$rewindTo"]) : ""
  let isGone = !messages.has(to)
  for (const id of [...messages.keys()]) {
    isGone ||= id === to
    if (isGone) messages.delete(id)
  }
}

/** Each message by the id that the client gave it: of several the last one. */
function entriesById({ entries }: SessionLog): ReadonlyMap<string, Entry> {
  const byId = new Map<string, Entry>()
  for (const entry of entries) if (entry.message.role !== "system") byId.set(storedName(entry), entry)
  return byId
}

/** An id that was taken has a number behind it. */
function storedName({ message }: Entry): string {
  return message.id.replace(/#\d+$/, "")
}

function sentOf(live: readonly (readonly string[])[], spoken: ReadonlyMap<string, Entry>): Entry[] {
  const sent = new Set<Entry>()
  for (const ids of live)
    for (const id of ids) {
      const entry = spoken.get(id)
      if (entry !== undefined && isSent(entry)) sent.add(entry)
    }
  return [...sent]
}

/** Commands of the client are recorded as what they are: words of a person that no model gets. */
function isSent({ message, parts }: Entry): boolean {
  if (parts.length === 0) return false
  if (message.role !== "user") return true
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
  return parts.some((part) => part.type === "file") || !UNSENT.test(text)
}

export const UNSENT = /^\s*(?:$|[/?])/
