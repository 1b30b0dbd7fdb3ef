/**
 * Makes `src/operations/usage/prices.json` anew: `bun build/prices.ts litellm-1.109.1.json [older.json…]`, each the file
 * `litellm/model_prices_and_context_window_backup.json` of that release of the package `litellm` (PyPI, MIT). The newest
 * comes first; older ones add the models that it no longer lists, because sessions outlive models.
 */
import { basename, join } from "node:path"
import type { ModelPrice, PriceTable } from "../src/operations/usage/prices.ts"

/** Makers of models, in the order in which one of them decides the price of a name. Resellers have separate prices. */
const MAKERS = [
  "anthropic",
  "openai",
  "gemini",
  "vertex_ai-language-models",
  "xai",
  "deepseek",
  "moonshot",
  "zai",
  "dashscope",
  "minimax",
  "mistral",
]
const MODES = new Set(["chat", "responses", "completion"])
const LONG_PROMPTS = [128, 200, 256, 272]
const PER_MILLION = 1_000_000

type Listed = Readonly<Record<string, unknown>>

const [, , ...paths] = process.argv
if (paths.length === 0) throw new Error("Name the price files, the newest first.")

const models = new Map<string, ModelPrice>()
for (const [source, path] of paths.entries()) {
  const listed = (await Bun.file(path).json()) as Readonly<Record<string, Listed>>
  for (const maker of MAKERS) {
    for (const [name, facts] of Object.entries(listed)) {
      if (facts["litellm_provider"] !== maker || !MODES.has(String(facts["mode"]))) continue
      const plain = name.startsWith(`${maker}/`) ? name.slice(maker.length + 1) : name
      const price = priceOf(facts)
      if (price !== undefined && !plain.includes("/") && !models.has(plain)) models.set(plain, { ...price, source })
    }
  }
}

function priceOf(facts: Listed): Omit<ModelPrice, "source"> | undefined {
  const [input, output] = [dollars(facts, "input_cost_per_token"), dollars(facts, "output_cost_per_token")]
  if (input === undefined || output === undefined) return undefined
  const long = LONG_PROMPTS.flatMap((thousands) => longPrice(facts, thousands))[0]
  return { input, output, ...cachePrices(facts, ""), ...(long === undefined ? {} : { long }) }
}

function longPrice(facts: Listed, thousands: number): NonNullable<ModelPrice["long"]>[] {
  const suffix = `_above_${thousands}k_tokens`
  const input = dollars(facts, `input_cost_per_token${suffix}`)
  const output = dollars(facts, `output_cost_per_token${suffix}`)
  if (input === undefined || output === undefined) return []
  return [{ above: thousands * 1000, input, output, ...cachePrices(facts, suffix) }]
}

function cachePrices(facts: Listed, suffix: string): Partial<ModelPrice> {
  const found = {
    cacheRead: dollars(facts, `cache_read_input_token_cost${suffix}`),
    cacheWrite5m: dollars(facts, `cache_creation_input_token_cost${suffix}`),
    cacheWrite1h: dollars(facts, `cache_creation_input_token_cost_above_1hr${suffix}`),
  }
  return Object.fromEntries(Object.entries(found).filter(([, price]) => price !== undefined))
}

function dollars(facts: Listed, name: string): number | undefined {
  const value = facts[name]
  return typeof value === "number" ? Number((value * PER_MILLION).toPrecision(9)) : undefined
}

const table: PriceTable = {
  unit: "US dollars for a million tokens",
  retrieved: new Date().toISOString().slice(0, 10),
  sources: paths.map((path) => `${basename(path, ".json")}, model_prices_and_context_window_backup.json (PyPI, MIT)`),
  models: Object.fromEntries([...models].sort(([left], [right]) => (left < right ? -1 : 1))),
}
const rows = Object.entries(table.models).map(
  ([name, price]) => `    ${JSON.stringify(name)}: ${JSON.stringify(price)}`,
)
const { models: _, ...head } = table
const text = `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "models": {\n${rows.join(",\n")}\n  }\n}\n`
await Bun.write(join(import.meta.dir, "../src/operations/usage/prices.json"), text)
console.log(`${rows.length} models`)
