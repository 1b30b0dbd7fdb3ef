/**
 * What the clients said of each pair, kept between runs (`matrix.json`), and the table that is made of it (`MATRIX.md`).
 * `bun run clients --matrix` writes both. A pair that no run has judged is shown as not run, and so is each pair of a
 * client that this harness cannot start.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { CLIENTS } from "./clients.ts"
import { NOT_STARTED } from "./not-started.ts"

/** A session that was judged in a target, or the client as whose it was. */
export interface Judged {
  readonly from: string
  readonly to: string
  readonly scenario: string
  readonly outcome: "ok" | "cannot" | "failed"
  readonly losses: readonly { readonly kind: string; readonly count: number }[]
}

interface Pair {
  readonly date: string
  readonly versions: readonly [from: string, to: string]
  readonly scenarios: readonly string[]
  readonly ok: number
  readonly cannot: number
  readonly failed: number
  readonly losses: Readonly<Record<string, number>>
}

/** By `from -> to`. */
export type Matrix = Readonly<Record<string, Pair>>

const DATA = join(import.meta.dir, "matrix.json")
const TABLE = join(import.meta.dir, "MATRIX.md")

export function readMatrix(): Matrix {
  return JSON.parse(readFileSync(DATA, "utf8")) as Matrix
}

/** A pair that was judged again has what was said last. */
export function recordMatrix(judged: readonly Judged[], date: string): void {
  const pairs = Map.groupBy(judged, ({ from, to }) => `${from} -> ${to}`)
  const own = [...pairs].map(([name, all]) => [name, pairOf(all, date)] as const)
  const matrix = { ...readMatrix(), ...Object.fromEntries(own) }
  const sorted = Object.fromEntries(Object.entries(matrix).sort(([left], [right]) => (left < right ? -1 : 1)))
  // Short lists stand in one line, as the formatter has them.
  const text = JSON.stringify(sorted, null, 2).replaceAll(
    /\[\s+([^\]]*?)\s+\]/g,
    (_, inner: string) => `[${inner.replaceAll(/\s+/g, " ")}]`,
  )
  writeFileSync(DATA, `${text}\n`)
  writeFileSync(TABLE, renderMatrix(sorted))
}

function pairOf(all: readonly Judged[], date: string): Pair {
  const losses: Record<string, number> = {}
  for (const { kind, count } of all.flatMap((each) => each.losses)) losses[kind] = (losses[kind] ?? 0) + count
  const count = (outcome: Judged["outcome"]) => all.filter((each) => each.outcome === outcome).length
  return {
    ...{ date, versions: [versionOf(all[0]?.from), versionOf(all[0]?.to)] },
    scenarios: [...new Set(all.map(({ scenario }) => scenario))],
    ...{ ok: count("ok"), cannot: count("cannot"), failed: count("failed"), losses },
  }
}

function versionOf(name: string | undefined): string {
  return CLIENTS.find((client) => client.name === name)?.version ?? "unknown"
}

// --- The table -----------------------------------------------------------------------------------------------------------

const NOT_RUN = "not run"

export function renderMatrix(matrix: Matrix): string {
  const names = namesOfClients()
  const targets = names.filter(isTarget)
  const started = CLIENTS.length ** 2
  const run = Object.keys(matrix).length
  return [
    "# Which client goes on with whose sessions",
    "",
    "Written by `bun run clients --matrix` and never by hand. Each number counts sessions that the real client on top listed,",
    "resumed and sent to its model whole, message for message and call for call, of the sessions that the real client at the",
    "left had made. In brackets: what that client cannot do with any file, as `known.ts` says.",
    "",
    `${run} of the ${started} pairs of clients that can be started were run. A client in italics cannot be: below is why.`,
    "",
    ...table([
      ["from \\ to", ...targets.map(titleOf)],
      ...names.map((from) => [titleOf(from), ...targets.map((to) => cellOf(matrix[`${from} -> ${to}`]))]),
    ]),
    "",
    "## Why a client is not started",
    "",
    ...table([
      ["client", "why"],
      ...names.flatMap((name) => (isStarted(name) ? [] : [[name, NOT_STARTED[name] ?? ""]])),
    ]),
    "",
    "## Each pair that was run",
    "",
    ...table([
      ["pair", "date", "versions", "scenarios", "losses that the restore said before it wrote"],
      ...Object.entries(matrix).map(([pair, each]) => [pair, ...detailsOf(each)]),
    ]),
    "",
  ].join("\n")
}

/** Those that can be started, then all others that pond has an adapter for. */
function namesOfClients(): readonly string[] {
  const started = new Set(CLIENTS.map(({ adapter }) => adapter))
  return [...CLIENTS.map(({ name }) => name), ...ADAPTERS.flatMap(({ id }) => (started.has(id) ? [] : [id]))]
}

/** Products that open nothing which is written for them are no targets. */
function isTarget(name: string): boolean {
  return ADAPTERS.find(({ id }) => id === name)?.serialize.foreign !== undefined || isStarted(name)
}

function isStarted(name: string): boolean {
  return CLIENTS.some((client) => client.name === name)
}

function titleOf(name: string): string {
  return isStarted(name) ? name : `_${name}_`
}

function cellOf(pair: Pair | undefined): string {
  if (pair === undefined) return NOT_RUN
  const { ok, cannot, failed } = pair
  return `${ok} of ${ok + failed}${cannot === 0 ? "" : ` (${cannot})`}`
}

function detailsOf({ date, versions, scenarios, losses }: Pair): readonly string[] {
  const lost = Object.entries(losses).map(([kind, count]) => `${kind} ${count}`)
  return [date, versions.join(" to "), scenarios.join(", "), lost.length === 0 ? "none" : lost.join(", ")]
}

/** The first row is the head. Columns are as wide as their widest cell, as the formatter has them. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const [head = [], ...body] = rows
  const widths = head.map((_, column) => Math.max(3, ...rows.map((cells) => cells[column]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)]
}
