/**
 * Posting lists: for each term the ascending numbers of the messages that have it, as bytes. A rare term is stored as
 * varint-encoded deltas. A term in at least 1 of 32 messages is stored as a bitmap, because such lists are probed for
 * single messages and never read through. Lists are grouped in posting blocks, in the order of their terms. Byte
 * layout: `FORMAT.md`. Pure.
 */

export interface PostingList {
  /** Number of messages that have the term. */
  readonly count: number
  readonly isBitmap: boolean
  readonly bytes: Uint8Array
}

export interface PostingBlock {
  readonly terms: readonly string[]
  readonly lists: Uint8Array
}

/** Bytes of lists per block. Reading one term reads its whole block. */
const BLOCK_BYTES = 16_384
const BITMAP_SHARE = 32
const BITMAP_FLAG = 0x80000000

// --- Lists ------------------------------------------------------------------------------------------------------------

export function encodePostings(numbers: Uint32Array, size: number): PostingList {
  const count = numbers.length
  const bitBytes = (size + 7) >> 3
  if (count * BITMAP_SHARE >= size) return { count, isBitmap: true, bytes: encodeBits(numbers, bitBytes) }
  if (scratch.length < count * VARINT_BYTES_MAX) scratch = new Uint8Array(count * VARINT_BYTES_MAX)
  const bytes = scratch
  let [used, before] = [0, 0]
  for (let index = 0; index < count; index++) {
    const number = numbers[index] as number
    let step = number - before
    before = number
    while (step > 0x7f) {
      bytes[used++] = (step & 0x7f) | 0x80
      step >>>= 7
    }
    bytes[used++] = step
  }
  return { count, isBitmap: false, bytes: bytes.slice(0, used) }
}

const VARINT_BYTES_MAX = 5
/** Shared by all calls: a merge writes a million lists and would leave as many arrays to the collector. */
let scratch = new Uint8Array(1 << 16)

function encodeBits(numbers: Uint32Array, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index] as number
    bytes[number >> 3] = (bytes[number >> 3] as number) | (1 << (number & 7))
  }
  return bytes
}

export function decodePostings(list: PostingList): Uint32Array<ArrayBuffer> {
  const numbers = new Uint32Array(list.count)
  decodeInto(list, 0, numbers, 0)
  return numbers
}

/** Writes the numbers, each plus `base`, into an array from an index on. */
export function decodeInto(
  { count, isBitmap: isBits, bytes }: PostingList,
  base: number,
  into: Uint32Array,
  place: number,
): void {
  if (isBits) {
    decodeBits(bytes, base, into, place)
    return
  }
  let [at, number] = [0, base]
  for (let index = place; index < place + count; index++) {
    let byte = bytes[at++] as number
    let step = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[at++] as number
      step |= (byte & 0x7f) << shift
    }
    number += step
    into[index] = number
  }
}

function decodeBits(bytes: Uint8Array, base: number, into: Uint32Array, place: number): void {
  let used = place
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] as number
    while (byte !== 0) {
      into[used++] = base + at * 8 + (31 - Math.clz32(byte & -byte))
      byte &= byte - 1
    }
  }
}

/** Probes a bitmap. */
export function hasBit(bits: Uint8Array, number: number): boolean {
  return (((bits[number >> 3] as number) >> (number & 7)) & 1) === 1
}

// --- Blocks -----------------------------------------------------------------------------------------------------------

/** Collects lists in the order of their terms and returns each block when it is full. */
export interface BlockWriter {
  add(term: string, list: PostingList): PostingBlock | undefined
  /** The last block, unless it is empty. */
  finish(): PostingBlock | undefined
}

export function createBlockWriter(): BlockWriter {
  let terms: string[] = []
  let lists: PostingList[] = []
  let used = 0
  const finish = (): PostingBlock | undefined => {
    if (terms.length === 0) return undefined
    const block = { terms, lists: joinLists(lists, used) }
    terms = []
    lists = []
    used = 0
    return block
  }
  return {
    add: (term, list) => {
      terms.push(term)
      lists.push(list)
      used += list.bytes.length
      return used >= BLOCK_BYTES ? finish() : undefined
    },
    finish,
  }
}

/** Layout: the number of lists; per list its message count and the end of its bytes; then the bytes. */
function joinLists(lists: readonly PostingList[], used: number): Uint8Array {
  const head = new Uint32Array(1 + lists.length * 2)
  head[0] = lists.length
  const all = new Uint8Array(head.byteLength + used)
  let end = 0
  for (const [index, { count, isBitmap: isBits, bytes }] of lists.entries()) {
    all.set(bytes, head.byteLength + end)
    end += bytes.length
    head[1 + index * 2] = isBits ? (count | BITMAP_FLAG) >>> 0 : count
    head[2 + index * 2] = end
  }
  all.set(new Uint8Array(head.buffer), 0)
  return all
}

export function postingsAt({ lists }: Pick<PostingBlock, "lists">, index: number): PostingList {
  const view = new DataView(lists.buffer, lists.byteOffset, lists.byteLength)
  const place = (at: number) => view.getUint32(at * 4, true)
  const start = (1 + place(0) * 2) * 4
  const count = place(1 + index * 2)
  const [from, to] = [index === 0 ? 0 : place(index * 2), place(2 + index * 2)]
  return {
    count: (count & ~BITMAP_FLAG) >>> 0,
    isBitmap: (count & BITMAP_FLAG) !== 0,
    bytes: lists.subarray(start + from, start + to),
  }
}
