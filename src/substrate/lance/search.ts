/** What a search asks the engine for, as values; and the only place that builds the engine's own query objects. */
import type { FullTextQuery } from "@lancedb/lancedb"
import { storedText } from "../columns/surrogate-escape.ts"
import type { Distance } from "../table-definition.ts"
import { engine } from "./engine.ts"

export type TextQuery =
  | {
      readonly match: string
      readonly column: string
      readonly operator?: "or" | "and"
      readonly fuzziness?: number
      readonly boost?: number
    }
  | { readonly phrase: string; readonly column: string; readonly slop?: number }
  | {
      readonly every?: readonly TextQuery[]
      readonly some?: readonly TextQuery[]
      readonly none?: readonly TextQuery[]
    }

export interface VectorQuery {
  readonly column: string
  readonly vector: Float32Array
  readonly distance: Distance
  /** Compare with every row that the filter leaves, instead of asking the index. Right for selective filters. */
  readonly exact?: boolean
  readonly probesMin?: number
  /** Recompute this many times the limit with whole vectors. */
  readonly refine?: number
}

export function fullTextQuery(query: TextQuery): FullTextQuery {
  const { lance } = engine()
  if ("match" in query) {
    return new lance.MatchQuery(storedText(query.match), query.column, {
      operator: query.operator === "and" ? lance.Operator.And : lance.Operator.Or,
      ...(query.fuzziness === undefined ? {} : { fuzziness: query.fuzziness }),
      ...(query.boost === undefined ? {} : { boost: query.boost }),
    })
  }
  if ("phrase" in query) {
    return new lance.PhraseQuery(storedText(query.phrase), query.column, { slop: query.slop ?? 0 })
  }
  const { Must, Should, MustNot } = lance.Occur
  const clauses: [typeof Must | typeof Should | typeof MustNot, FullTextQuery][] = []
  for (const part of query.every ?? []) clauses.push([Must, fullTextQuery(part)])
  for (const part of query.some ?? []) clauses.push([Should, fullTextQuery(part)])
  for (const part of query.none ?? []) clauses.push([MustNot, fullTextQuery(part)])
  return new lance.BooleanQuery(clauses)
}
