/**
 * Adds up usage. A response that was recorded several times counts once: with the most that was recorded of it, for the
 * session that asked for it. What it cost is what its client recorded, else what the price table says, else unknown.
 */
import type { ModelPrice, Prices } from "./prices.ts"
import { priceOf } from "./prices.ts"
import { NO_MODEL, TOKEN_CLASSES, type TokenClass, type UsageTable } from "./usage-table.ts"

export interface Counts {
  responses: number
  readonly tokens: Record<TokenClass, number>
  /** Of the cost, what clients recorded. The rest is by the price table. */
  recordedUsd: number
  pricedUsd: number
  /** Responses and tokens of models without a price: they are in no cost. */
  unpricedResponses: number
  unpricedTokens: number
  readonly sessions: Set<number>
}

export interface Counting {
  readonly prices: Prices
  /** Whether the response in a row of the table is asked for. */
  readonly passes: (row: number) => boolean
  readonly keyOf: (row: number) => string
}

export interface CountedUsage {
  readonly groups: ReadonlyMap<string, Counts>
  readonly total: Counts
  /** Models without a price, most tokens first. */
  readonly unpriced: readonly { readonly model: string; readonly counts: Counts }[]
  /** Records of responses that were counted already. */
  readonly repeated: number
}

/** A model that no record names. */
export const UNNAMED_MODEL = "(unnamed)"

export function countUsage(table: UsageTable, { prices, passes, keyOf }: Counting): CountedUsage {
  const { columns, models } = table
  const rows = distinctResponses(table)
  const groups = new Map<string, Counts>()
  const unpriced = new Map<string, Counts>()
  const total = noCounts()
  const priceBy = new Map<number, ModelPrice | undefined>()
  const priceAt = (model: number) => {
    if (!priceBy.has(model)) priceBy.set(model, model === NO_MODEL ? undefined : prices.of(models[model] ?? ""))
    return priceBy.get(model)
  }
  for (const row of rows) {
    if (!passes(row)) continue
    const key = keyOf(row)
    const group = groups.get(key) ?? noCounts()
    groups.set(key, group)
    const tokens = tokensAt(table, row)
    const model = columns.model[row] as number
    const recorded = columns.costUsd[row] as number
    const price = Number.isNaN(recorded) ? priceAt(model) : undefined
    const isUnpriced = Number.isNaN(recorded) && price === undefined
    const cost = {
      recordedUsd: Number.isNaN(recorded) ? 0 : recorded,
      pricedUsd: price === undefined ? 0 : priceOf(tokens, price),
      isUnpriced,
      session: columns.session[row] as number,
    }
    addTo(total, tokens, cost)
    addTo(group, tokens, cost)
    if (!isUnpriced) continue
    const name = models[model] ?? UNNAMED_MODEL
    const of = unpriced.get(name) ?? noCounts()
    unpriced.set(name, of)
    addTo(of, tokens, cost)
  }
  const most = [...unpriced].map(([model, counts]) => ({ model, counts }))
  most.sort((left, right) => totalTokens(right.counts) - totalTokens(left.counts))
  return { groups, total, unpriced: most, repeated: table.count - rows.length }
}

/** All that was sent and all that came back. Reasoning is part of the output. */
export function totalTokens({ tokens }: Pick<Counts, "tokens">): number {
  return TOKEN_CLASSES.reduce((sum, name) => sum + (name === "reasoning" ? 0 : tokens[name]), 0)
}

function noCounts(): Counts {
  return {
    responses: 0,
    tokens: { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 },
    recordedUsd: 0,
    pricedUsd: 0,
    unpricedResponses: 0,
    unpricedTokens: 0,
    sessions: new Set(),
  }
}

interface Cost {
  readonly recordedUsd: number
  readonly pricedUsd: number
  readonly isUnpriced: boolean
  readonly session: number
}

function addTo(counts: Counts, tokens: Record<TokenClass, number>, cost: Cost): void {
  counts.responses++
  for (const name of TOKEN_CLASSES) counts.tokens[name] += tokens[name]
  counts.recordedUsd += cost.recordedUsd
  counts.pricedUsd += cost.pricedUsd
  counts.sessions.add(cost.session)
  if (!cost.isUnpriced) return
  counts.unpricedResponses++
  counts.unpricedTokens += totalTokens({ tokens })
}

export function tokensAt({ columns }: UsageTable, row: number): Record<TokenClass, number> {
  return {
    input: columns.input[row] as number,
    cacheRead: columns.cacheRead[row] as number,
    cacheWrite: columns.cacheWrite[row] as number,
    cacheWrite5m: columns.cacheWrite5m[row] as number,
    cacheWrite1h: columns.cacheWrite1h[row] as number,
    output: columns.output[row] as number,
    reasoning: columns.reasoning[row] as number,
  }
}

/** One row for each response, in the order of storing. An open-addressed table of row numbers, by the hash of the key. */
export function distinctResponses(table: UsageTable): readonly number[] {
  const { keyHigh, keyLow } = table.columns
  const size = 2 ** Math.ceil(Math.log2(Math.max(2, table.count * 2)))
  const slots = new Int32Array(size).fill(-1)
  const chosen: number[] = []
  for (let row = 0; row < table.count; row++) {
    const [high, low] = [keyHigh[row] as number, keyLow[row] as number]
    let slot = low & (size - 1)
    while (true) {
      const at = slots[slot] as number
      const other = at < 0 ? undefined : (chosen[at] as number)
      if (other === undefined) {
        slots[slot] = chosen.push(row) - 1
        break
      }
      if (keyHigh[other] === high && keyLow[other] === low) {
        if (isBetter(table, row, other)) chosen[at] = row
        break
      }
      slot = (slot + 1) & (size - 1)
    }
  }
  return chosen
}

/** A client writes usage while an answer grows: the most counts. Of equals the session counts that is no copy, then the first. */
function isBetter({ columns }: UsageTable, row: number, than: number): boolean {
  const [own, other] = [columns.output[row] as number, columns.output[than] as number]
  if (own !== other) return own > other
  return (columns.isEcho[row] as number) < (columns.isEcho[than] as number)
}
