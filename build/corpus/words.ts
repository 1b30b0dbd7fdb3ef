/** The chance, the words and the moments that a corpus is made of. Its text packs about as well as real text does. */
import { seededRandom } from "../../src/platform/host/random.ts"

export interface Writer {
  below(end: number): number
  chance(share: number): boolean
  hex(digits: number): string
  uuid(): string
  /** Each moment is a little after the one before. */
  moment(): string
  millis(): number
  /** Prose of about so many words. */
  text(words: number): string
  /** What a tool gave: mostly a few lines, sometimes many kilobytes. */
  output(): string
  /** Around one, and seldom up to thirty. */
  spread(): number
}

const SYLLABLES =
  "ba co di fu ge lo mi na pe ra si tu va wo xe zi ker lan mor tis und ver able tion ment pre con".split(" ")
const VOCABULARY = 6_000

export function createWriter(seed: number): Writer {
  const random = seededRandom(seed)
  const fraction = () => random.next()
  const below = (end: number) => Math.floor(fraction() * end)
  let now = Date.parse("2026-01-01T00:00:00.000Z")

  const words = Array.from({ length: VOCABULARY }, () =>
    Array.from({ length: 1 + below(4) }, () => SYLLABLES[below(SYLLABLES.length)]).join(""),
  )
  /** Few words are frequent and most are rare, as in any language. */
  const word = () => words[Math.floor(VOCABULARY * fraction() ** 3)] ?? ""
  const some = (count: number) => Array.from({ length: count }, word).join(" ")
  const hex = (digits: number) => Array.from({ length: digits }, () => below(16).toString(16)).join("")

  function millis(): number {
    now += 1 + below(9_000)
    return now
  }

  function outputLine(number: number): string {
    return `${String(number).padStart(6)}\t${" ".repeat(2 * below(5))}${some(3 + below(8))}`
  }

  return {
    below,
    chance: (share) => fraction() < share,
    hex,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
    moment: () => new Date(millis()).toISOString(),
    millis,
    text: (count) => some(1 + below(2 * count)),
    output: () => {
      const lines = fraction() < 0.3 ? 20 + below(100) : 1 + below(12)
      return Array.from({ length: lines }, (_, index) => outputLine(index + 1)).join("\n")
    },
    spread: () => Math.min(30, Math.exp(1.1 * (fraction() + fraction() + fraction() + fraction() - 2) * 1.7)),
  }
}
