/** Who passes a filter, as numbers, where they are so few that these are gone through sooner than all. Told once for each mask. */

const FEW_SHARE = 8
const FEW = new WeakMap<Uint8Array, { readonly numbers: Uint32Array | undefined }>()

/** Those that pass a filter, where that is soon told; nothing where they are many. */
export function fewOf(passing: Uint8Array): Uint32Array | undefined {
  let told = FEW.get(passing)
  if (told === undefined) {
    const count = countOf(passing)
    told = { numbers: count * FEW_SHARE > passing.length ? undefined : numbersOf(passing, count) }
    FEW.set(passing, told)
  }
  return told.numbers
}

/** Four at once: each is 0 or 1. */
function fours(passing: Uint8Array): Uint32Array {
  return new Uint32Array(passing.buffer, passing.byteOffset, passing.length >> 2)
}

function countOf(passing: Uint8Array): number {
  const words = fours(passing)
  let count = 0
  for (let at = 0; at < words.length; at++) count += Math.imul(words[at] as number, 0x01010101) >>> 24
  for (let at = words.length * 4; at < passing.length; at++) count += passing[at] as number
  return count
}

function numbersOf(passing: Uint8Array, count: number): Uint32Array {
  const numbers = new Uint32Array(count)
  const words = fours(passing)
  let used = 0
  for (let at = 0; used < count; at++) {
    if (at < words.length && words[at] === 0) continue
    for (let number = at * 4; number < at * 4 + 4; number++) if (passing[number] === 1) numbers[used++] = number
  }
  return numbers
}
