/** Counts of tokens in records: what is no count is none, and a class that contains another is taken apart. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { valueAt } from "../extract.ts"
import type { ResponseUsage } from "../usage-reading.ts"

/** No response has more tokens than this. A larger number is damage, and would outweigh everything that is true. */
const TOKENS_MAX = 0xffff_ffff

export function objectAt(value: JsonValue, ...path: readonly string[]): JsonObject | undefined {
  const found = valueAt(value, ...path)
  return isJsonObject(found) ? found : undefined
}

export function textAt(value: JsonValue, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path)
  return typeof found === "string" && found !== "" ? found : undefined
}

export function tokensAt(value: JsonValue, ...path: readonly string[]): number {
  const found = valueAt(value, ...path)
  const isCount = typeof found === "number" && Number.isSafeInteger(found) && found >= 0 && found <= TOKENS_MAX
  return isCount ? found : 0
}

export function costAt(value: JsonValue, ...path: readonly string[]): number | undefined {
  const found = valueAt(value, ...path)
  return typeof found === "number" && Number.isFinite(found) && found >= 0 ? found : undefined
}

/** The rest of a count that contains others. */
export function without(whole: number, ...parts: readonly number[]): number {
  return Math.max(0, whole - parts.reduce((sum, part) => sum + part, 0))
}

/** A record that says nothing of tokens or money is no response. */
export function ifAny(usage: ResponseUsage): readonly ResponseUsage[] {
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h, cacheWrite, costUsd } = usage
  const isEmpty = input + output + cacheRead + cacheWrite5m + cacheWrite1h + cacheWrite === 0
  return isEmpty && (costUsd ?? 0) === 0 ? [] : [usage]
}
