/** What the editors of configuration files have in common: the values they write, and how they refuse. */
export type ConfigValue =
  | null
  | boolean
  | number
  | string
  | readonly ConfigValue[]
  | { readonly [key: string]: ConfigValue }

/** The text is not what its form says, or something is in the way of the key. Nothing was changed. */
export class NotEditable extends Error {
  override readonly name = "NotEditable"
}

export function isTable(value: unknown): value is { readonly [key: string]: ConfigValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
