/** The wire format of Protocol Buffers, for messages without a published schema: fields by their numbers, and nothing of what they mean. */

export interface WireField {
  readonly number: number
  /** Of a field of bytes; of any other none. */
  readonly bytes: Uint8Array | undefined
  /** Of a varint. Above 2^53 it is not exact. */
  readonly value: number
}

const [VARINT, FIXED_64, BYTES, FIXED_32] = [0, 1, 2, 5]

/** In their order. Undefined where the bytes are no such message. */
export function wireFields(message: Uint8Array): readonly WireField[] | undefined {
  const fields: WireField[] = []
  for (let at = 0; at < message.length; ) {
    const key = varintAt(message, at)
    const field = key && fieldAt(message, key.next, key.value % 8)
    if (key === undefined || field === undefined || key.value < 8) return undefined
    fields.push({ number: Math.floor(key.value / 8), bytes: field.bytes, value: field.value })
    at = field.next
  }
  return fields
}

interface Read {
  readonly value: number
  readonly bytes: Uint8Array | undefined
  readonly next: number
}

function fieldAt(message: Uint8Array, at: number, kind: number): Read | undefined {
  if (kind === VARINT) return varintAt(message, at)
  if (kind === FIXED_64 || kind === FIXED_32) {
    const next = at + (kind === FIXED_64 ? 8 : 4)
    return next > message.length ? undefined : { value: 0, bytes: undefined, next }
  }
  const size = kind === BYTES ? varintAt(message, at) : undefined
  const next = size === undefined ? 0 : size.next + size.value
  if (size === undefined || next > message.length) return undefined
  return { value: 0, bytes: message.subarray(size.next, next), next }
}

function varintAt(message: Uint8Array, from: number): Read | undefined {
  let value = 0
  for (let at = from, factor = 1; at < message.length && at < from + 10; at++, factor *= 128) {
    const byte = message[at] as number
    value += (byte & 127) * factor
    if (byte < 128) return { value, bytes: undefined, next: at + 1 }
  }
  return undefined
}
