/**
 * Ids of opencode's own shape, derived from those of the source: the same session gives the same ids everywhere. Twelve
 * hexadecimal digits of time and a count, which grow (of a session: shrink, so that the newest comes first), then letters.
 */
import { hexOf } from "../shared/derived-ids.ts"

const COUNTS_PER_MS = 4096n
const TIME_BITS = (1n << 48n) - 1n
const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const LETTERS_MAX = 14

export function sessionIdOf(createdMs: number, seed: string): string {
  return `ses_${digits(~timeOf(createdMs, 0))}${lettersOf(seed)}`
}

export interface Ids {
  /** Each id is greater than all before it: opencode reads a message's parts in the order of their ids. */
  next(prefix: "msg" | "prt", ms: number): string
}

export function createIds(seed: string): Ids {
  let last = -1n
  return {
    next(prefix, ms) {
      const wanted = timeOf(ms, 0)
      last = wanted > last ? wanted : last + 1n
      return `${prefix}_${digits(last)}${lettersOf(`${seed} ${last}`)}`
    },
  }
}

function timeOf(ms: number, count: number): bigint {
  return BigInt(Math.max(0, Math.trunc(ms))) * COUNTS_PER_MS + BigInt(count)
}

function digits(value: bigint): string {
  return (value & TIME_BITS).toString(16).padStart(12, "0")
}

/**
 * Each from the number that the hash is, shifted by six bits more: in pieces of 24 bits, which are whole numbers to a
 * processor at every step.
 */
function lettersOf(seed: string): string {
  const hash = hexOf(seed, 32)
  const pieces = [0, 2, 8, 14, 20, 26].map((from, index) => Number.parseInt(hash.slice(from, 2 + 6 * index), 16))
  let letters = ""
  while (letters.length < LETTERS_MAX) {
    let [rest, carry] = [0, 0]
    for (let index = 0; index < pieces.length; index++) {
      const piece = pieces[index] as number
      rest = ((rest << 24) | piece) % LETTERS.length
      pieces[index] = (carry << 18) | (piece >> 6)
      carry = piece & 63
    }
    letters += LETTERS[rest]
  }
  return letters
}
