import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Clock } from "../../src/platform/host/clock.ts"
import { createLog } from "../../src/platform/host/log.ts"
import { eq } from "../../src/substrate/filter.ts"
import { type Location, parseLocation, within } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { type CheckStep, checkStorage } from "../../src/substrate/storage-check.ts"
import type { StoreContext } from "../../src/substrate/store-context.ts"
import { type ObjectServer, startObjectServer, TEST_KEY } from "../support/object-server.ts"
import { SEED } from "../support/seed.ts"
import { EVERY_KIND, row, testContext, testStore } from "./support.ts"

/**
 * The same laws on every backend. Real ones are named by `POND_TEST_STORES` (URLs, separated by spaces), with their
 * credentials in the environment; each run writes below a separate prefix there.
 */
let server: ObjectServer
beforeAll(async () => {
  server = await startObjectServer()
})
afterAll(() => server.stop())

const keys = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
const s3Location = (name: string) =>
  parseLocation(`${server.url.replace("http:", "s3+http:")}/pond-test/${name}`, { environment: keys })

const BACKENDS: readonly (readonly [name: string, locate: () => Location])[] = [
  ["s3", () => s3Location("laws")],
  [
    "gs",
    () =>
      parseLocation("gs://pond-test/google-laws", { environment: { STORAGE_EMULATOR_HOST: `${server.url}/google` } }),
  ],
  ...(process.env["POND_TEST_STORES"] ?? "")
    .split(" ")
    .filter((url) => url !== "")
    .map((url) => [url, () => parseLocation(url, { environment: process.env })] as const),
]

const context: StoreContext = { ...testContext, sleep: () => Bun.sleep(1) }

describe.each(BACKENDS)("%s", (_, locate) => {
  const run = crypto.randomUUID().slice(0, 8)
  const place = (name: string) => within(locate(), `${name}-${run}`)

  test("a check of the store succeeds and leaves nothing", async () => {
    const checked = await checkStorage(place("check"), context)
    expect(checked.steps.map(({ step, ok, error }) => [step, ok, error])).toEqual(
      (["reach", "write", "conditional write", "read", "list", "delete"] as const).map((step) => [
        step,
        true,
        undefined,
      ]),
    )
    expect(checked.ok).toBe(true)
  })

  test("four writers of overlapping rows store each row once", async () => {
    const location = place("writers")
    const rowsOf = (writer: number) =>
      Array.from({ length: 30 }, (_row, index) => row(`row-${writer * 10 + index}`, { text: "word" }))
    const tables = [0, 1, 2, 3].map(() => openStore(location, context).table(EVERY_KIND))
    await Promise.all(tables.map((each, writer) => each.insertAbsent(rowsOf(writer))))
    const table = openStore(location, context).table(EVERY_KIND)
    expect(await table.count()).toBe(60)
    expect((await table.read({ columns: ["id"], where: eq("text", "word") })).length).toBe(60)
  })

  test("maintenance keeps every row, and what is stored twice is stored once", async () => {
    const table = openStore(place("maintained"), context).table(EVERY_KIND)
    for (let round = 0; round < 4; round++) {
      await table.insertAbsent(
        Array.from({ length: 20 }, (_row, index) => row(`row-${round}-${index}`, { text: `word${round}` })),
      )
    }
    const report = await table.maintain("all")
    expect(report.steps.map(({ step }) => step)).toEqual(["optimize", "clean"])
    expect(await table.insertAbsent([row("row-0-0")])).toMatchObject({ inserted: 0 })
    expect(await table.count(eq("text", "word2"))).toBe(20)
    expect((await table.statistics())?.fragments).toBe(1)
  })

  test("a reader sees another's commit after the staleness window, and not for each read again", async () => {
    const location = place("fresh")
    let now = 0
    const clock: Clock = { nowMs: () => now, monotonicMs: () => now }
    const writer = openStore(location, context).table(EVERY_KIND)
    await writer.insertAbsent([row("a")])
    const reader = openStore(location, { ...context, clock }).table(EVERY_KIND)
    expect(await reader.count()).toBe(1)
    await writer.insertAbsent([row("b")])
    now += 4999
    expect(await reader.count()).toBe(1)
    now += 1
    expect(await reader.count()).toBe(2)
  })
})

test("a table that several make at once holds what each of them stored", async () => {
  await using slow = await startObjectServer({ faults: { latency: { rate: 0.3, ms: 40 } }, seed: SEED })
  const base = parseLocation(`${slow.url.replace("http:", "s3+http:")}/pond-test/race`, { environment: keys })
  // Several times, because it is the engine's timing that decides whether one overwrites another's table.
  const races = Array.from({ length: 6 }, async (_race, number) => {
    const location = within(base, `${number}`)
    const rowsOf = (writer: number) =>
      [0, 1].map((index) => row(`row-${writer}-${index}`, { payload: Uint8Array.of(writer) }))
    await Promise.all(
      [0, 1, 2].map((writer) => openStore(location, context).table(EVERY_KIND).insertAbsent(rowsOf(writer))),
    )
    return await openStore(location, context)
      .table(EVERY_KIND)
      .readBlobs("payload", { columns: ["id"] })
  })
  for (const rows of await Promise.all(races)) {
    const stored = Object.fromEntries(rows.map(({ id, payload }) => [id, payload?.[0]]))
    const want = [0, 1, 2].flatMap((writer) => [0, 1].map((index) => [`row-${writer}-${index}`, writer]))
    expect(stored, `POND_SEED=${SEED}`).toEqual(Object.fromEntries(want))
    expect(rows.length).toBe(6)
  }
})

/** The store of these tests without its conditions: what is written last counts. */
function startCareless(onAnswer: (request: Request, body: ArrayBuffer) => ArrayBuffer = (_request, body) => body) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const headers = new Headers(request.headers)
      for (const name of ["if-none-match", "if-match", "host"]) headers.delete(name)
      const hasBody = request.method === "PUT" || request.method === "POST"
      const body = hasBody ? { body: await request.arrayBuffer() } : {}
      const answer = await fetch(`${server.url}${pathname}${search}`, { method: request.method, headers, ...body })
      return new Response(request.method === "HEAD" ? null : onAnswer(request, await answer.arrayBuffer()), answer)
    },
  })
}

const CARELESS_STEPS: [CheckStep, boolean][] = [
  ["reach", true],
  ["write", true],
  ["conditional write", false],
  ["delete", true],
]

test("a store that lets one writer overwrite another does not pass its check", async () => {
  using careless = startCareless()
  const location = parseLocation(`s3+http://127.0.0.1:${careless.port}/pond-test/careless`, { environment: keys })
  const checked = await checkStorage(location, context)
  expect(checked.ok).toBe(false)
  expect(checked.steps.map(({ step, ok }) => [step, ok])).toEqual(CARELESS_STEPS)
  expect(checked.steps[2]?.error?.message).toContain("conditional writes")
})

test("so does one whose writers find what they read replaced under their hands", async () => {
  const [written, overwritten] = [new Set<string>(), new Set<string>()]
  // Of a manifest that was written twice, half is read: what a reader gets who asked for its length before.
  using careless = startCareless((request, body) => {
    const { pathname } = new URL(request.url)
    const isManifest = pathname.endsWith(".manifest")
    if (!isManifest || request.method === "HEAD") return body
    if (request.method !== "PUT") return overwritten.has(pathname) ? body.slice(0, body.byteLength / 2) : body
    if (written.has(pathname)) overwritten.add(pathname)
    written.add(pathname)
    return body
  })

  const location = parseLocation(`s3+http://127.0.0.1:${careless.port}/pond-test/replaced`, { environment: keys })
  const checked = await checkStorage(location, context)
  expect(overwritten.size).toBeGreaterThan(0)
  expect(checked.steps.map(({ step, ok }) => [step, ok])).toEqual(CARELESS_STEPS)
  expect(checked.steps[2]?.error?.message).toContain("13 rows were written and not all can be read")
})

test("a check of a local folder succeeds and leaves no table", async () => {
  using place = testStore()
  expect((await checkStorage(place.store.location, context)).ok).toBe(true)
  expect([...new Bun.Glob("**").scanSync({ cwd: place.path, dot: true })]).toEqual([])
})

test("neither an error nor the log of a store that refuses holds a credential", async () => {
  const secrets = {
    AWS_ACCESS_KEY_ID: "AKIANOTALLOWED",
    AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI-SECRET",
    AWS_SESSION_TOKEN: "FQoGZXIvYXdz-TOKEN",
  }
  const log: string[] = []
  const told = { ...context, log: createLog("debug", (line) => log.push(line)) }
  const location = parseLocation(`${server.url.replace("http:", "s3+http:")}/pond-test/refused`, {
    environment: secrets,
  })
  // At once: the engine asks six times before it gives up, and pauses in between.
  const counting = openStore(location, told).table(EVERY_KIND).count()
  const [failed, checked] = await Promise.all([counting.catch((error) => error), checkStorage(location, told)])
  expect(failed).toMatchObject({ code: "storage_unavailable", details: { failure: "denied" } })
  expect(checked.steps).toMatchObject([{ step: "reach", ok: false, error: { code: "storage_unavailable" } }])
  const said = `${failed.message} ${JSON.stringify(failed.details)} ${failed.cause?.message} ${JSON.stringify(checked)} ${log.join()} ${Bun.inspect(failed)}`
  expect(said).toContain("pond-test/refused")
  for (const secret of Object.values(secrets)) expect(said).not.toContain(secret)
})
