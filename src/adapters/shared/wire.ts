/** The wire format of Protocol Buffers, for messages without a published schema: fields by their numbers, and nothing of what they mean. */

export interface WireField {
  readonly number: number
  /** Of a field of bytes; of any other none. */
  readonly bytes: Uint8Array | undefined
  /** Of a field of four or eight bytes, whose type only its message knows: a number, or a fraction. */
  readonly fixed: Uint8Array | undefined
  /** Of a varint. Above 2^53 it is not exact: `digits` is. */
  readonly value: number
  readonly digits: string | undefined
}

const [VARINT, FIXED_64, BYTES, FIXED_32] = [0, 1, 2, 5]

/** In their order. Undefined where the bytes are no such message. */
export function wireFields(message: Uint8Array): readonly WireField[] | undefined {
  const fields: WireField[] = []
  for (let at = 0; at < message.length; ) {
    const key = varintAt(message, at)
    const field = key && fieldAt(message, key.next, key.value % 8)
    if (key === undefined || field === undefined || key.value < 8) return undefined
    const { next: _, ...found } = field
    fields.push({ number: Math.floor(key.value / 8), ...found })
    at = field.next
  }
  return fields
}

interface Read extends Omit<WireField, "number"> {
  readonly next: number
}

const NONE = { value: 0, digits: undefined, bytes: undefined, fixed: undefined }

function fieldAt(message: Uint8Array, at: number, kind: number): Read | undefined {
  if (kind === VARINT) return varintAt(message, at)
  if (kind === FIXED_64 || kind === FIXED_32) {
    const next = at + (kind === FIXED_64 ? 8 : 4)
    return next > message.length ? undefined : { ...NONE, fixed: message.subarray(at, next), next }
  }
  const size = kind === BYTES ? varintAt(message, at) : undefined
  const next = size === undefined ? 0 : size.next + size.value
  if (size === undefined || next > message.length) return undefined
  return { ...NONE, bytes: message.subarray(size.next, next), next }
}

function varintAt(message: Uint8Array, from: number): Read | undefined {
  let value = 0
  for (let at = from, factor = 1; at < message.length && at < from + 10; at++, factor *= 128) {
    const byte = message[at] as number
    value += (byte & 127) * factor
    if (byte < 128) {
      const digits = Number.isSafeInteger(value) ? undefined : exactDigits(message, from, at)
      return { ...NONE, value, digits, next: at + 1 }
    }
  }
  return undefined
}

/** Seven bits of each byte, the lowest first. */
function exactDigits(message: Uint8Array, from: number, last: number): string {
  let value = 0n
  for (let at = last; at >= from; at--) value = (value << 7n) | BigInt((message[at] as number) & 127)
  return BigInt.asUintN(64, value).toString()
}
