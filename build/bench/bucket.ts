/**
 * What a store in a bucket costs in requests and bytes, of whole commands at a counting test server: nothing here depends
 * on how busy the machine is. `--sessions N` says how many sessions are imported, `--attribute` prints each command's
 * requests by kind and place.
 */
import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { writeCorpus } from "../corpus/corpus.ts"
import { type Cost, placesText, startBucketRun } from "../lib/bucket-costs.ts"
import type { Bench, Row } from "../lib/measure.ts"
import { BuildFailure } from "../release/targets.ts"

const SEED = 7
const LINES_TYPICAL = 20

export const bench: Bench = {
  summary: "a bucket: requests and bytes of imports, changed sessions, searches and reads",
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { sessions: { type: "string" }, attribute: { type: "boolean" } },
    })
    const home = mkdtempSync(join(tmpdir(), "pond-bench-bucket-"))
    try {
      return await costs(home, Number(values.sessions ?? 1_000), values.attribute === true)
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  },
}

async function costs(home: string, sessions: number, isAttributed: boolean): Promise<Row[]> {
  const corpus = writeCorpus({ home, sessions, linesTypical: LINES_TYPICAL, seed: SEED })
  await using run = await startBucketRun()
  const rows: Row[] = []
  const cost: Costing = async (what, held, ...args) => {
    const bounds = typeof held === "number" ? { limit: held } : (held ?? {})
    const spent = await run.cost(home, ...args)
    const beside = `${megabytes(spent.down)} MB down, ${megabytes(spent.up)} MB up`
    rows.push({ what, measured: spent.requests, unit: "requests", beside, ...bounds })
    console.error(`${what}: ${spent.requests} requests, ${beside}${isAttributed ? `\n${placesText(spent)}` : ""}`)
    return spent
  }
  let rounds = 0
  const grow = () => {
    appendFileSync(corpus.files[0] as string, `${JSON.stringify({ type: "mode", mode: `plan ${rounds++}` })}\n`)
  }
  const reads = async (when: string) => {
    const search = await cost(`search, ${when}`, 60, "search", "database connection", "--json")
    const { message, session } = firstHit(search.stdout)
    await cost(`get of a message, ${when}`, 12, "get", message, "--json")
    await cost(`get of a session, ${when}`, 20, "get", session, "--json")
    grow()
    await cost(`sync of a changed session, ${when}`, 45, "sync", "--json")
  }
  await cost("first sync", undefined, "sync", "--json")
  await cost("sync after it", undefined, "sync", "--json")
  await cost("nothing changed", 12, "sync", "--json")
  await reads("as the import leaves it")
  await coldReads(home, "as the import leaves it", cost)
  await cost("optimize", undefined, "optimize", "--json")
  await reads("optimized")
  await coldReads(home, "optimized", cost)
  await run.served(home, async () => {
    await cost("search in a server, its first", undefined, "search", "database connection", "--json")
    await cost("the same again", 10, "search", "database connection", "--json")
    await cost("another search in a warm server", 10, "search", "connection pool", "--json")
  })
  return rows
}

type Held = number | Pick<Row, "limit" | "goal"> | undefined
type Costing = (what: string, held: Held, ...args: readonly string[]) => Promise<Cost>

/** As on a machine that has never read the bucket. */
async function coldReads(home: string, when: string, cost: Costing): Promise<void> {
  const cold = async (what: string, held: Held, ...args: readonly string[]) => {
    rmSync(join(home, ".cache/pond/buckets"), { recursive: true, force: true })
    return await cost(`${what}, nothing cached, ${when}`, held, ...args)
  }
  const search = await cold("search", 60, "search", "database connection", "--json")
  const { message, session } = firstHit(search.stdout)
  await cold("get of a message", { limit: 25, goal: 12 }, "get", message, "--json")
  await cold("get of a session", { limit: 22, goal: 20 }, "get", session, "--json")
}

function firstHit(answer: string): { readonly message: string; readonly session: string } {
  const [, message] = /"message_id":\s*"([^"]+)"/.exec(answer) ?? []
  const [, session] = /"session_id":\s*"([^"]+)"/.exec(answer) ?? []
  if (message === undefined || session === undefined) throw new BuildFailure("the search found nothing")
  return { message, session }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(2)
}
