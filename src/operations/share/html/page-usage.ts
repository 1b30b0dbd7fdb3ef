/**
 * Tokens on a page, counted as `pond cost` counts them: each response once, however many records and branches of the page
 * repeat it. The records of a session are read as its messages stream by, so nothing but the session is read.
 */

import { originOf } from "../../../adapters/registry.ts"
import type { UsageReading } from "../../../adapters/usage-reading.ts"
import { isJsonObject, type JsonValue } from "../../../model/json.ts"
import { countText, dollarText } from "../../../model/numbers.ts"
import type { Entry, Session } from "../../../model/session.ts"
import { visibleLine } from "../../../model/visible.ts"
import { type Counts, countUsage, totalTokens, UNNAMED_MODEL } from "../../usage/count-usage.ts"
import { openPrices, type Prices } from "../../usage/prices.ts"
import { buildUsage } from "../../usage/usage-table.ts"

export interface PageUsage {
  /** Reads the records of messages, in their order. Gives a line for each message that is the last one of a response. */
  read(session: Session, entries: readonly Entry[]): ReadonlyMap<number, string>
  /** Tokens of all responses by the ordinal of the message that recorded them. */
  byOrdinal(session: Session): ReadonlyMap<number, number>
  /** What the whole page took, in a sentence; empty where nothing was recorded. */
  totalText(): string
  /** The same in two numbers, for a list. */
  shortText(): string
}

function createPageUsage(prices: () => Prices): PageUsage {
  const builder = buildUsage()
  const shown = new Set<string>()
  const count = (keyOf: (row: number) => string = () => "") =>
    countUsage(builder.table(), { prices: prices(), passes: () => true, keyOf })

  return {
    read(session, entries) {
      const reading = originOf(session.source_agent)?.usage
      const lines = new Map<string, { readonly ordinal: number; readonly text: string }>()
      if (reading === undefined) return new Map()
      const at = builder.session(session.id, session.source_agent, session.project)
      for (const entry of entries) {
        const found = readEntry(reading, session, entry, builder.memoryOf(at))
        for (const usage of found.responses) {
          const { ordinal, timestamp } = entry.message
          builder.add({ session: at, ordinal, timeMs: Date.parse(timestamp), isCopy: found.isCopy }, usage)
          if (usage.isEcho !== true && !shown.has(usage.key)) lines.set(usage.key, { ordinal, text: lineOf(usage) })
        }
      }
      for (const key of lines.keys()) shown.add(key)
      return new Map([...lines.values()].map(({ ordinal, text }) => [ordinal, text]))
    },
    byOrdinal({ id }) {
      const table = builder.table()
      const at = table.sessions.findIndex((each) => each.id === id)
      const { groups } = count((row) => (table.columns.session[row] === at ? String(table.columns.ordinal[row]) : ""))
      return new Map([...groups].filter(([key]) => key !== "").map(([key, each]) => [Number(key), totalTokens(each)]))
    },
    totalText() {
      const { models } = builder.table()
      const { total, groups, unpriced } = count(
        (row) => models[builder.table().columns.model[row] as number] ?? UNNAMED_MODEL,
      )
      if (total.responses === 0) return ""
      const cost = costText(total)
      const unknown = unpriced.map(({ model }) => visibleLine(model)).join(", ")
      return [
        `Tokens: ${sumText(total)}`,
        cost === "" ? "" : `, ${cost}`,
        ` (${[...groups.keys()].map((model) => visibleLine(model)).join(", ")}).`,
        unknown === "" ? "" : ` No price is known for ${unknown}.`,
      ].join("")
    },
    shortText() {
      const { total } = count()
      if (total.responses === 0) return ""
      return [`${countText(totalTokens(total))} tokens`, costText(total)].filter((text) => text !== "").join(", ")
    },
  }
}

/** Prices are read when the first page needs them. */
export function pageUsageOf(host: Parameters<typeof openPrices>[0]): PageUsage {
  let prices: Prices | undefined
  return createPageUsage(() => {
    prices ??= openPrices(host)
    return prices
  })
}

type Usage = ReturnType<UsageReading["read"]>[number]

function readEntry(reading: UsageReading, session: Session, { message }: Entry, memory: Record<string, JsonValue>) {
  const [source, pond] = [message.options["source"] as JsonValue, message.options["pond"] as JsonValue]
  const record = isJsonObject(source) ? source["record"] : undefined
  const copiedFrom = isJsonObject(pond) ? pond["replay_of"] : undefined
  const isCopy = typeof copiedFrom === "string"
  if (record === undefined || record === null) return { responses: [], isCopy }
  return { responses: reading.read({ record, sessionId: isCopy ? copiedFrom : session.id }, memory), isCopy }
}

function lineOf(usage: Usage): string {
  const read = usage.input + usage.cacheRead + usage.cacheWrite + usage.cacheWrite5m + usage.cacheWrite1h
  return `${countText(read)} tokens in, ${countText(usage.output)} out`
}

function sumText(counts: Counts): string {
  const { input, cacheRead, cacheWrite, cacheWrite5m, cacheWrite1h, output, reasoning } = counts.tokens
  const written = cacheWrite + cacheWrite5m + cacheWrite1h
  const cached = [
    ...(cacheRead === 0 ? [] : [`${countText(cacheRead)} read from the cache`]),
    ...(written === 0 ? [] : [`${countText(written)} written to it`]),
  ].join(", ")
  const prompt = countText(input + cacheRead + written)
  const thought = reasoning === 0 ? "" : ` (${countText(reasoning)} of reasoning)`
  return `${prompt} in${cached === "" ? "" : ` (${cached})`}, ${countText(output)} out${thought}`
}

function costText({ recordedUsd, pricedUsd, unpricedResponses, responses }: Counts): string {
  return unpricedResponses === responses ? "" : dollarText(recordedUsd + pricedUsd)
}
