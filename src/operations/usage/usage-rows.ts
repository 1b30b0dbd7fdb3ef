/** Usage as rows of the table `usage` of `pond sql`: one for each response of a model, counted once, with what it cost. */
import { distinctResponses, tokensAt } from "./count-usage.ts"
import { type Prices, priceOf, type Tokens } from "./prices.ts"
import type { UsageTable } from "./usage-table.ts"

type UsageRow = Readonly<Record<string, unknown>>

const ROWS_AT_ONCE = 4_096

/** The rows of stored sessions. */
export function* usageRows(table: UsageTable, prices: Prices, stored: ReadonlySet<string>): Generator<UsageRow[]> {
  let rows: UsageRow[] = []
  for (const at of distinctResponses(table)) {
    const row = rowAt(table, prices, at)
    if (!stored.has(String(row["session_id"]))) continue
    rows.push(row)
    if (rows.length < ROWS_AT_ONCE) continue
    yield rows
    rows = []
  }
  yield rows
}

function rowAt(table: UsageTable, prices: Prices, at: number): UsageRow {
  const { columns, sessions, models } = table
  const session = sessions[columns.session[at] as number]
  const model = models[columns.model[at] as number] ?? null
  const tokens = tokensAt(table, at)
  const recorded = columns.costUsd[at] as number
  const { costUsd, from } = costOf(tokens, model, recorded, prices)
  return {
    session_id: session?.id ?? null,
    ordinal: columns.ordinal[at] as number,
    source_agent: session?.sourceAgent ?? null,
    project: session?.project ?? null,
    timestamp: BigInt(columns.timeMs[at] as number) * 1000n,
    model,
    input_tokens: BigInt(tokens.input),
    cache_read_tokens: BigInt(tokens.cacheRead),
    cache_write_tokens: BigInt(tokens.cacheWrite),
    cache_write_5m_tokens: BigInt(tokens.cacheWrite5m),
    cache_write_1h_tokens: BigInt(tokens.cacheWrite1h),
    output_tokens: BigInt(tokens.output),
    reasoning_tokens: BigInt(tokens.reasoning),
    cost_usd: costUsd,
    cost_from: from,
  }
}

function costOf(tokens: Tokens, model: string | null, recorded: number, prices: Prices) {
  if (!Number.isNaN(recorded)) return { costUsd: recorded, from: "client" }
  const price = model === null ? undefined : prices.of(model)
  return price === undefined ? { costUsd: null, from: null } : { costUsd: priceOf(tokens, price), from: "prices" }
}
