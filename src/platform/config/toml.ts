/**
 * TOML as Bun reads it, with what Bun does not say: on which line. Lines are found by reading ever longer beginnings of
 * the text, which is quadratic; a config file is small, and one larger than the bound is refused.
 */
export type TomlTable = Record<string, unknown>

const CHARACTERS_MAX = 256 * 1024

export function parseToml(text: string): TomlTable {
  if (text.length > CHARACTERS_MAX) throw new Error(`longer than ${CHARACTERS_MAX} characters`)
  return Bun.TOML.parse(text) as TomlTable
}

/** The first line after which the text fails as the whole text does. */
export function lineOfFault(text: string): number {
  const whole = faultOf(text)
  return firstLine(text, (beginning) => faultOf(beginning) === whole)
}

/** The line that gives the key its first value; line 1 for a key that is not there. */
export function lineOfKey(text: string, key: readonly string[]): number {
  return firstLine(text, (beginning) => faultOf(beginning) === undefined && has(parseToml(beginning), key))
}

function faultOf(text: string): string | undefined {
  try {
    parseToml(text)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : "unknown"
  }
}

function firstLine(text: string, isThere: (beginning: string) => boolean): number {
  if (text.length > CHARACTERS_MAX) return 1
  const lines = text.split("\n")
  const found = lines.findIndex((_, index) => isThere(lines.slice(0, index + 1).join("\n")))
  return found === -1 ? 1 : found + 1
}

function has(table: unknown, key: readonly string[]): boolean {
  let value: unknown = table
  for (const name of key) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return false
    value = (value as TomlTable)[name]
  }
  return true
}
