/** A log of JSON Lines that a foreign restore writes: its lines, and what could not be said in them. */
import { type JsonObject, stringifyJson } from "../../model/json.ts"
import type { Loss } from "../../model/report.ts"
import type { FileSink } from "../adapter.ts"
import { loss } from "./losses.ts"

export interface ForeignLog {
  /** How many lines it has so far. For ids that are derived from the position of a line. */
  readonly length: number
  readonly losses: readonly Loss[]
  add(record: JsonObject): void
  lose(...given: Parameters<typeof loss>): void
}

/** `known` are the losses that the turns have already (`turnsOf`). */
export function createForeignLog(sink: FileSink, relativePath: string, known: readonly Loss[]): ForeignLog {
  const losses = [...known]
  let length = 0
  return {
    get length() {
      return length
    },
    losses,
    add(record) {
      sink.line(relativePath, stringifyJson(record))
      length++
    },
    lose(...given) {
      losses.push(loss(...given))
    },
  }
}

/** A moment with milliseconds and never more, as clients that are written in JavaScript or Rust write it. */
export function timeOf(timestamp: string): string {
  return new Date(Date.parse(timestamp)).toISOString()
}
