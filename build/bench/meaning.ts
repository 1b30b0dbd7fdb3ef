/**
 * Nearest vectors at size: how many of the truly nearest the index finds, and for what time, beside comparing with each.
 * The vectors are clustered, as those of texts are. `--vectors N`, `--dimension N` say how many and how long they are.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { type Random, seededRandom, systemRandom } from "../../src/platform/host/random.ts"
import { nearestQuery } from "../../src/search/arms/nearest-vectors.ts"
import { embeddingsTable } from "../../src/sessions/tables.ts"
import { eq, type Filter } from "../../src/substrate/filter.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import type { Table } from "../../src/substrate/table.ts"
import type { RowOf } from "../../src/substrate/table-definition.ts"
import { type Bench, median, type Row } from "../lib/measure.ts"

const BATCH = 10_000
const CLUSTERS = 1000
/** How far a vector lies from the middle of its cluster, where the middles lie 1 apart in each direction. */
const SPREAD = 0.6
const PROJECTS = 50
const QUERIES = 40
/** What search asks for: as many rows as it ranks, twice, because a message may have several. */
const ASKED = 200

type Vectors = Table<ReturnType<typeof embeddingsTable>["columns"]>

export const bench: Bench = {
  summary: "meaning: what the index of vectors finds of the nearest, and its time beside comparing with each",
  run: async (args) => {
    const count = Number(flagValue(args, "--vectors") ?? 200_000)
    const dimension = Number(flagValue(args, "--dimension") ?? 384)
    const folder = mkdtempSync(join(tmpdir(), "pond-bench-meaning-"))
    const location = parseLocation(folder, { environment: {} })
    const store = openStore(location, { log: silentLog, clock: systemClock, random: systemRandom })
    try {
      const vectors = store.table(embeddingsTable(dimension))
      for (let from = 0; from < count; from += BATCH) {
        const rows = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => row(from + at, dimension))
        await vectors.insertAbsent(rows)
      }
      const began = performance.now()
      await vectors.maintain("due")
      const built: Row = { what: "index built", measured: (performance.now() - began) / 1000, unit: "s" }
      const size: Row = {
        what: "index, of the vectors' bytes",
        measured: bytesOfIndex(join(folder, `${embeddingsTable(dimension).name}.lance`)) / (count * dimension * 4),
        unit: "x",
      }
      const oneProject = eq("project", projectOf(1))
      return [
        built,
        size,
        ...(await asked(vectors, dimension, "all", eq("model", MODEL))),
        ...(await asked(vectors, dimension, `one project of ${PROJECTS}`, oneProject)),
      ]
    } finally {
      store.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

function flagValue(args: readonly string[], flag: string): string | undefined {
  const at = args.indexOf(flag)
  return at < 0 ? undefined : args[at + 1]
}

async function asked(vectors: Vectors, dimension: number, among: string, where: Filter): Promise<Row[]> {
  const times = { chosen: [] as number[], flat: [] as number[] }
  const found: { ten: number[]; hundred: number[] } = { ten: [], hundred: [] }
  for (let at = 0; at < QUERIES; at++) {
    const query = vectorOf(at * 3, dimension, seededRandom(900_000 + at))
    const nearest = async (isFlat: boolean) => {
      const began = performance.now()
      const request = { columns: ["message_id"] as const, where, limit: ASKED }
      const chosen = await nearestQuery(vectors, query, where)
      const rows = await vectors.searchVector(isFlat ? { ...chosen, exact: true } : chosen, request)
      times[isFlat ? "flat" : "chosen"].push(performance.now() - began)
      return rows.map(({ message_id }) => message_id)
    }
    const [truth, given] = [await nearest(true), await nearest(false)]
    found.ten.push(shareOf(truth.slice(0, 10), given))
    found.hundred.push(shareOf(truth.slice(0, 100), given))
  }
  const share = (what: string, values: readonly number[], limit: number): Row => ({
    what: `${among}: of the ${what} nearest`,
    measured: (100 * values.reduce((sum, value) => sum + value, 0)) / values.length,
    unit: "%",
    limit,
    isFloor: true,
  })
  return [
    share("10", found.ten, 99),
    share("100", found.hundred, 97),
    {
      what: `${among}: p50`,
      measured: median(times.chosen),
      unit: "ms",
      beside: `compared with each: ${median(times.flat).toFixed(0)} ms`,
    },
  ]
}

function shareOf(truth: readonly string[], given: readonly string[]): number {
  const there = new Set(given)
  return truth.filter((id) => there.has(id)).length / truth.length
}

// --- Vectors ---------------------------------------------------------------------------------------------------------

const MODEL = "measured"

function projectOf(at: number): string {
  return `/home/someone/work/project-${at % PROJECTS}`
}

function row(at: number, dimension: number): RowOf<ReturnType<typeof embeddingsTable>["columns"]> {
  return {
    session_id: `session-${Math.floor(at / 100)}`,
    message_id: `message-${at}`,
    model: MODEL,
    piece: 0,
    role: at % 2 === 0 ? "user" : "assistant",
    source_agent: "claude-code",
    // Every project has vectors of every cluster, so that a filter leaves neighbours that lie apart.
    project: projectOf(Math.floor(at / CLUSTERS)),
    lane: "main",
    timestamp: BigInt(1_700_000_000_000_000 + at * 1_000_000),
    ingested_at: BigInt(1_700_000_000_000_000),
    vector: vectorOf(at, dimension, seededRandom(at)),
  }
}

/** Of the cluster of that row; `random` says where in it. */
function vectorOf(at: number, dimension: number, random: Random): Float32Array {
  const middle = middleOf(at % CLUSTERS, dimension)
  return middle.map((value) => value + SPREAD * normal(random))
}

const middles = new Map<number, Float32Array>()

function middleOf(cluster: number, dimension: number): Float32Array {
  const known = middles.get(cluster)
  if (known !== undefined) return known
  const random = seededRandom(7_000_000 + cluster)
  const made = Float32Array.from({ length: dimension }, () => normal(random))
  middles.set(cluster, made)
  return made
}

/** Normally distributed, near enough: the sum of four even chances, as wide as the sum of twelve. */
function normal(random: Random): number {
  return Math.sqrt(3) * (random.next() + random.next() + random.next() + random.next() - 2)
}

function bytesOfIndex(table: string): number {
  return readdirSync(table, { recursive: true, encoding: "utf8" })
    .filter((name) => name.startsWith("_indices/"))
    .map((name) => statSync(join(table, name)))
    .reduce((sum, status) => sum + (status.isFile() ? status.size : 0), 0)
}
