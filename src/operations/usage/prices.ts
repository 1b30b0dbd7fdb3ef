/**
 * What tokens cost: `prices.json`, which says where it comes from and when it was made, or the file that the setting
 * `prices.file` names. A model that it does not list has no price; none is guessed from a name that looks alike.
 */
import { readFileSync } from "node:fs"
import { type Static, Type } from "typebox"
import { Value } from "typebox/value"
import { PondError } from "../../model/errors.ts"
import type { Host } from "../../platform/host/host.ts"
import type { TokenClass } from "./usage-table.ts"

const Dollars = Type.Number({ minimum: 0 })

const Rates = {
  input: Dollars,
  output: Dollars,
  cacheRead: Type.Optional(Dollars),
  cacheWrite5m: Type.Optional(Dollars),
  cacheWrite1h: Type.Optional(Dollars),
}

const ModelPrice = Type.Object({
  ...Rates,
  /** Prices of a whole response whose prompt is longer than so many tokens. */
  long: Type.Optional(Type.Object({ above: Type.Integer({ minimum: 1 }), ...Rates })),
  /** Which of the sources says so. */
  source: Type.Optional(Type.Integer({ minimum: 0 })),
})
export type ModelPrice = Static<typeof ModelPrice>

const PriceTable = Type.Object({
  unit: Type.Literal("US dollars for a million tokens"),
  retrieved: Type.String({ minLength: 1 }),
  sources: Type.Array(Type.String()),
  models: Type.Record(Type.String(), ModelPrice),
})
export type PriceTable = Static<typeof PriceTable>

export interface Prices {
  readonly retrieved: string
  readonly sources: readonly string[]
  /** The file of the setting, where there is one. */
  readonly file: string | undefined
  of(model: string): ModelPrice | undefined
}

export type Tokens = Readonly<Record<TokenClass, number>>

export function openPrices(host: Host): Prices {
  const file = host.settings().values.prices?.file
  const { retrieved, sources, models } = file === undefined ? ownTable() : tableIn(file)
  const known = new Map(Object.entries(models))
  return { retrieved, sources, file, of: (model) => known.get(model) ?? known.get(plainName(model)) }
}

/** Read when the first price is asked for: it is larger than most of the code. */
function ownTable(): PriceTable {
  return require("./prices.json")
}

const MAKER =
  /^(?:openrouter\/)?(?:anthropic|openai|google|models|x-ai|deepseek|moonshotai|z-ai|qwen|mistralai|minimax)\//

/** Without the maker in front, and the size of the window that Claude Code puts behind. */
function plainName(model: string): string {
  return model.replace(MAKER, "").replace(/\[1m\]$/, "")
}

function tableIn(file: string): PriceTable {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, "utf8"))
  } catch (cause) {
    throw badTable(file, "it cannot be read as JSON", cause)
  }
  if (Value.Check(PriceTable, value)) return value
  const [fault] = Value.Errors(PriceTable, value)
  throw badTable(file, `${fault?.instancePath ?? ""} ${fault?.message ?? "is wrong"}`.trim())
}

function badTable(file: string, why: string, cause?: unknown): PondError {
  return new PondError(
    "validation_failed",
    `${file} is not a table of prices: ${why}. Correct it, or remove prices.file from the settings to use pond's own.`,
    { details: { file }, cause },
  )
}

const PER_MILLION = 1_000_000

/** A class without its own price costs what the rest of the prompt costs. */
export function priceOf(tokens: Tokens, price: ModelPrice): number {
  const { input, cacheRead, cacheWrite, cacheWrite5m, cacheWrite1h, output } = tokens
  const prompt = input + cacheRead + cacheWrite + cacheWrite5m + cacheWrite1h
  const rates = price.long !== undefined && prompt > price.long.above ? price.long : price
  const write = rates.cacheWrite5m ?? rates.input
  const sum =
    input * rates.input +
    cacheRead * (rates.cacheRead ?? rates.input) +
    (cacheWrite + cacheWrite5m) * write +
    cacheWrite1h * (rates.cacheWrite1h ?? write) +
    output * rates.output
  return sum / PER_MILLION
}
