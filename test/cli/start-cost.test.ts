/**
 * What an everyday command loads and reads, counted: none of it shows in an answer, and a tenth of a second comes back
 * one module and one read at a time. A figure that must grow is raised here, with what it buys in the commit.
 */
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { perform } from "../../src/operations/operation.ts"
import type { Pond } from "../../src/operations/pond.ts"
import { get } from "../../src/operations/wire/get.ts"
import { search } from "../../src/operations/wire/search.ts"
import { sessions as list } from "../../src/operations/wire/sessions.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { createHost } from "../../src/platform/host/host.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { openSessions, type Sessions } from "../../src/sessions/store.ts"
import type { Store } from "../../src/substrate/table.ts"
import { said, session } from "../sessions/support.ts"
import { createMemoryDisk } from "../support/memory-disk.ts"
import { openMemoryStore } from "../support/memory-store.ts"

const SOURCE = join(import.meta.dir, "../../src")

// --- Modules ---------------------------------------------------------------------------------------------------------

/** The modules that loading this one loads, types apart: what it imports later, when it needs it, is not among them. */
function loadedWith(entry: string): ReadonlySet<string> {
  const transpiler = new Bun.Transpiler({ loader: "ts" })
  const found = new Set<string>()
  const waiting = [join(SOURCE, entry)]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const name = relative(SOURCE, file)
    if (found.has(name) || !file.endsWith(".ts")) continue
    found.add(name)
    for (const { kind, path } of transpiler.scan(readFileSync(file, "utf8")).imports)
      if (kind === "import-statement") {
        if (path.startsWith(".")) waiting.push(resolve(dirname(file), path))
        else found.add(path)
      }
  }
  return found
}

const START = loadedWith("main.ts").union(loadedWith("pond.ts"))

const MODULES: readonly (readonly [verb: string, most: number])[] = [
  ["get", 47],
  ["search", 76],
  ["list", 38],
  ["status", 60],
]

for (const [verb, most] of MODULES) {
  test(`pond ${verb} loads no codec, no engine and no server, and few modules`, () => {
    const own = [...loadedWith(`cli/verbs/${verb}.ts`).difference(START)]
    const isHeavy = (name: string) =>
      /^(?:@|apache-arrow|elysia|fastembed|http\/(?!route)|mcp\/)/.test(name) ||
      /^adapters\/[^/]+\/|^adapters\/registry/.test(name)
    expect(own.filter(isHeavy)).toEqual([])
    expect(own.length).toBeGreaterThan(10)
    expect(own.length).toBeLessThanOrEqual(most)
  })
}

test("the registry loads the roots of clients, and no codec", () => {
  const own = [...loadedWith("adapters/registry.ts")].filter((name) => /^adapters\/[^/]+\//.test(name))
  expect(own.length).toBeGreaterThan(15)
  expect(own.filter((name) => !/\/(?:roots|brands)\.ts$|^adapters\/shared\/editors\.ts$/.test(name))).toEqual([])
})

// --- Reads -----------------------------------------------------------------------------------------------------------

/** Each of them is a call of the engine, of two to six milliseconds of processor time in a new process. */
const READS = new Set(["read", "batches", "count", "takeByNumber", "scanByNumber", "readColumns", "readWithin"])

function counting(store: Store, asked: string[]): Store {
  return {
    ...store,
    table: (definition) =>
      new Proxy(store.table(definition), {
        get: (table, name, self) => {
          if (typeof name === "string" && READS.has(name)) asked.push(`${definition.name} ${name}`)
          return Reflect.get(table, name, self)
        },
      }),
  }
}

const ID = "aaaaaaaa-0000-4000-8000-000000000001"

async function readsOf(work: (pond: Pond) => Promise<unknown>): Promise<readonly string[]> {
  const disk = createMemoryDisk()
  const context = { clock: systemClock, host: "test", lifetime: "command" } as const
  const filled = openSessions(openMemoryStore(disk), context)
  await filled.write(
    Array.from({ length: 3 }, (_, at) => {
      const id = `${String.fromCharCode(97 + at).repeat(8)}-0000-4000-8000-000000000001`
      return { session: session(id), entries: [said(id, 0, "fix the login"), said(id, 1, "done with it")] }
    }),
  )
  await filled.maintain("all")
  const asked: string[] = []
  const opened: Sessions = openSessions(counting(openMemoryStore(disk), asked), context)
  const host = createHost({
    lifetime: "command",
    environment: { HOME: "/dev/null" },
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    flags: {},
  })
  const pond = { host, sessions: () => Promise.resolve(opened), embedder: () => Promise.resolve(undefined) }
  await work(pond as unknown as Pond)
  return asked
}

const signal = new AbortController().signal

test("a get of a session reads what it shows, each once", async () => {
  const reads = await readsOf((pond) => perform(get, { pond, signal }, { session_id: ID }))
  expect(reads.toSorted()).toEqual([
    "messages read", // its title
    "messages read", // which of its messages say something
    "messages read", // these
    "messages read", // its first words, where it has no title
    "parts read",
    "sessions read", // itself
    "sessions read", // its children
  ])
})

test("a get by the beginning of an id reads two rows more", async () => {
  const reads = await readsOf((pond) => perform(get, { pond, signal }, { session_id: "aaaaaaaa" }))
  expect(reads.length).toBe(9)
})

test("a search, and a search without a hit, read so often and no more", async () => {
  const found = await readsOf((pond) => perform(search, { pond, signal }, { query: "login", for_reading: true }))
  expect(found.length).toBeGreaterThan(5)
  expect(found.length).toBeLessThanOrEqual(17)
  const nothing = await readsOf((pond) => perform(search, { pond, signal }, { query: "qqzzxy" }))
  expect(nothing.length).toBeLessThanOrEqual(13)
})

test("a list reads what it shows, each once", async () => {
  const reads = await readsOf((pond) => perform(list, { pond, signal }, {}))
  expect(reads.toSorted()).toEqual([
    "labels read",
    "messages batches", // the newest, which say which sessions these are
    "messages count", // of the whole table, which the engine knows: it saves 40 ms of counting a million by their time
    "messages read", // the branches that they began on
    "messages read", // their titles
    "messages read", // which of their messages say something
    "messages read", // their first words, where they have no title
    "sessions read", // themselves
    "sessions read", // those that begin alike, for the short ids
    "sessions read", // copies that pond wrote, which are left out
    "sessions read", // clients that append messages again
  ])
})
