/**
 * Ids of the shapes that clients use, derived from ids of the source: the same session gives the same ids on every
 * machine and at every restore. Clients that share a shape put their name into the seed: what goes on in two of them is two
 * sessions, and one store holds both.
 */
import { sha256Of } from "../../platform/sha256.ts"

/** A UUID of version 7: its first 48 bits are the moment, the others come from the seed. */
export function uuidV7Of(ms: number, seed: string): string {
  const time = Math.max(0, Math.trunc(ms)).toString(16).padStart(12, "0").slice(-12)
  return uuid(`${time}7${hexOf(seed).slice(0, 19)}`)
}

/** A UUID of version 4 from the seed alone. */
export function uuidV4Of(seed: string): string {
  const hex = hexOf(seed)
  return uuid(`${hex.slice(0, 12)}4${hex.slice(12, 31)}`)
}

/** The first hexadecimal digits of a hash of the seed. */
export function hexOf(seed: string, digits = 64): string {
  return sha256Of(seed).slice(0, digits)
}

/** Sets the bits of the variant, and the dashes. */
function uuid(hex: string): string {
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 0x3) | 0x8).toString(16)
  const all = `${hex.slice(0, 16)}${variant}${hex.slice(17)}`
  return [all.slice(0, 8), all.slice(8, 12), all.slice(12, 16), all.slice(16, 20), all.slice(20)].join("-")
}
