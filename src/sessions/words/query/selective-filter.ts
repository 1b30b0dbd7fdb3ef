/**
 * Lists the messages that a selective filter passes: with at most 1 of 8 passing, going through the list is faster than
 * through all messages. Computed once per mask.
 */

const SELECTIVE_SHARE = 8
const LISTED = new WeakMap<Uint8Array, { readonly numbers: Uint32Array | undefined }>()

/** The passing messages; undefined where the filter is not selective. */
export function listPassing(passing: Uint8Array): Uint32Array | undefined {
  let listed = LISTED.get(passing)
  if (listed === undefined) {
    const count = countPassing(passing)
    listed = { numbers: count * SELECTIVE_SHARE > passing.length ? undefined : collectPassing(passing, count) }
    LISTED.set(passing, listed)
  }
  return listed.numbers
}

/** Four mask bytes, each 0 or 1, as one word. */
function asWords(passing: Uint8Array): Uint32Array {
  return new Uint32Array(passing.buffer, passing.byteOffset, passing.length >> 2)
}

function countPassing(passing: Uint8Array): number {
  const words = asWords(passing)
  let count = 0
  for (let at = 0; at < words.length; at++) count += Math.imul(words[at] as number, 0x01010101) >>> 24
  for (let at = words.length * 4; at < passing.length; at++) count += passing[at] as number
  return count
}

function collectPassing(passing: Uint8Array, count: number): Uint32Array {
  const numbers = new Uint32Array(count)
  const words = asWords(passing)
  let used = 0
  for (let at = 0; used < count; at++) {
    if (at < words.length && words[at] === 0) continue
    for (let number = at * 4; number < at * 4 + 4; number++) if (passing[number] === 1) numbers[used++] = number
  }
  return numbers
}
