/** Takes some messages out of a prepared batch, with their parts, as columns: no row is made again. */
import { MESSAGES, PARTS } from "../../sessions/tables.ts"
import type { PreparedBatch } from "../../sessions/write/prepare.ts"
import { replaceColumns } from "../../substrate/columns/column-batch.ts"
import { pickRows } from "../../substrate/columns/slice-columns.ts"

/**
 * Messages that are stored but lack their parts. All blobs of the batch come along, which are stored again if they are
 * missing. Undefined if nothing is left.
 */
export function pickMessages(batch: PreparedBatch, picked: readonly boolean[]): PreparedBatch | undefined {
  const rows = picked.flatMap((isPicked, row) => (isPicked ? [row] : []))
  if (rows.length === 0 && batch.blobs.length === 0) return undefined
  return { ...batch, ...pickWithParts(batch, rows), spoken: { places: [], keys: [] } }
}

/** New messages of a session that is stored already: each row gets the next free position, which `ordinals` says. */
export function placeMessages(
  batch: PreparedBatch,
  rows: readonly number[],
  ordinals: readonly number[],
): PreparedBatch {
  const { messages, parts } = pickWithParts(batch, rows)
  const before = messages.columns["ordinal"]?.data as Int32Array
  const placed = new Map(ordinals.map((ordinal, at) => [before[at], ordinal]))
  const ofMessages = Array.from(parts.columns["message_ordinal"]?.data as Int32Array, (each) => placed.get(each))
  const places = new Map(rows.map((row, at) => [row, at]))
  const spoken = batch.spoken.places.flatMap((row, index) => {
    const place = places.get(row)
    return place === undefined ? [] : [{ place, key: batch.spoken.keys[index] ?? "" }]
  })
  return {
    ...batch,
    messages: replaceColumns(MESSAGES, messages, { ordinal: ordinals }),
    parts: replaceColumns(PARTS, parts, { message_ordinal: ofMessages }),
    spoken: { places: spoken.map(({ place }) => place), keys: spoken.map(({ key }) => key) },
  }
}

function pickWithParts(batch: PreparedBatch, rows: readonly number[]): Pick<PreparedBatch, "messages" | "parts"> {
  const ordinals = batch.messages.columns["ordinal"]?.data as Int32Array
  const wanted = new Set(rows.map((row) => ordinals[row]))
  const ofMessages = batch.parts.columns["message_ordinal"]?.data as Int32Array
  const ofWanted: number[] = []
  for (let row = 0; row < batch.parts.length; row++) if (wanted.has(ofMessages[row])) ofWanted.push(row)
  return { messages: pickRows(batch.messages, rows), parts: pickRows(batch.parts, ofWanted) }
}
