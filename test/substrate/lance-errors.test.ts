import { expect, test } from "bun:test"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { seededRandom } from "../../src/platform/host/random.ts"
import { engine } from "../../src/substrate/lance/engine.ts"
import { type Failure, failureOf, storeError } from "../../src/substrate/lance/lance-errors.ts"
import { withRetries } from "../../src/substrate/lance/retry.ts"
import { manifestName } from "../../src/substrate/local/manifest-file.ts"
import { type ObjectServer, startObjectServer } from "../support/object-server.ts"

/** The real engine is made to say each of its lines, and is read right. */
async function failureSaid(call: () => Promise<unknown>): Promise<Failure | undefined> {
  return await call().then(
    () => undefined,
    (error) => failureOf(error),
  )
}

class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "pond-errors-"));
  [Symbol.dispose]() {
    rmSync(this.path, { recursive: true, force: true })
  }
}

const rows = [{ id: "a", text: "words" }]

async function madeTable(path: string) {
  const connection = await engine().lance.connect(path)
  const table = await connection.createTable("t", rows)
  await table.add(rows)
  return { connection, table }
}

const scanAgain = async (path: string) =>
  await (await (await engine().lance.connect(path)).openTable("t")).query().toArray()

test("absent and present", async () => {
  using folder = new Folder()
  const { connection } = await madeTable(folder.path)
  expect(await failureSaid(() => connection.openTable("other"))).toBe("absent")
  expect(await failureSaid(() => connection.createTable("t", rows))).toBe("present")
})

test("rejected: a regular expression that is none", async () => {
  using folder = new Folder()
  const { table } = await madeTable(folder.path)
  expect(await failureSaid(() => table.countRows("regexp_like(text, 'a(b')"))).toBe("rejected")
})

test("late: a read that was given less time than it needs", async () => {
  using folder = new Folder()
  const connection = await engine().lance.connect(folder.path)
  // A pattern with a letter that must be there is answered in 3 ms, and a read is only given up between two pieces.
  const many = Array.from({ length: 100 }, (_, id) => ({ id, text: "a".repeat(2_000) }))
  const table = await connection.createTable("t", many)
  for (let piece = 1; piece < 12; piece++) await table.add(many)
  const slow = table.query().where("regexp_like(text, '([a-z]a?){50,400}[^a-z]')")
  expect(await failureSaid(() => slow.toArrow({ timeoutMs: 1 }))).toBe("late")
})

test("conflict: another handle was first with the next version", async () => {
  using folder = new Folder()
  await madeTable(folder.path)
  const open = async () => await (await engine().lance.connect(folder.path)).openTable("t")
  const [quick, late, later] = [await open(), await open(), await open()]
  await quick.optimize()
  expect(await failureSaid(() => late.optimize())).toBe("conflict")
  await (await engine().lance.connect(folder.path)).createTable("t", [{ other: 1 }], { mode: "overwrite" })
  expect(await failureSaid(() => later.add(rows))).toBe("conflict")
})

test("conflict: the next version is taken whenever it is tried", async () => {
  using folder = new Folder()
  const { table } = await madeTable(folder.path)
  mkdirSync(join(folder.path, "t.lance/_versions", manifestName(BigInt(await table.version()) + 1n)))
  expect(await failureSaid(() => table.add(rows))).toBe("conflict")
})

const DAMAGES: readonly (readonly [what: string, folder: string, damage: (path: string) => void])[] = [
  ["an empty manifest", "_versions", (path) => truncateSync(path, 0)],
  ["a cut manifest", "_versions", (path) => truncateSync(path, statSync(path).size - 5)],
  ["an empty data file", "data", (path) => truncateSync(path, 0)],
  ["a cut data file", "data", (path) => truncateSync(path, statSync(path).size - 1)],
  ["a data file of zeros", "data", (path) => writeFileSync(path, new Uint8Array(statSync(path).size))],
  ["a missing data file", "data", (path) => unlinkSync(path)],
]

test.each(DAMAGES)("damaged: %s", async (_, inside, damage) => {
  using folder = new Folder()
  await madeTable(folder.path)
  const within = join(folder.path, "t.lance", inside)
  const [first = ""] = readdirSync(within)
    .filter((name) => /\.(manifest|lance)$/.test(name))
    .toSorted()
  damage(join(within, first))
  expect(await failureSaid(() => scanAgain(folder.path))).toBe("damaged")
})

/** A disk of one megabyte, made full or read-only; in a namespace of our own where this user may not mount. */
async function onSmallDisk(script: string): Promise<string> {
  using folder = new Folder()
  const code = `
    const { failureOf } = await import(${JSON.stringify(join(import.meta.dir, "../../src/substrate/lance/lance-errors.ts"))})
    const { engine } = await import(${JSON.stringify(join(import.meta.dir, "../../src/substrate/lance/engine.ts"))})
    const connection = await engine().lance.connect(${JSON.stringify(folder.path)})
    const table = await connection.createTable("t", [{ id: "a", text: "words" }])
    const text = crypto.getRandomValues(new Uint8Array(60000)).toBase64()
    try { ${script} } catch (error) { console.log(failureOf(error)) }`
  const mount = `mount -t tmpfs -o size=1m tmpfs ${folder.path}`
  const child = Bun.spawn(["unshare", "-rm", "sh", "-c", `${mount} && exec ${process.execPath} -e "$SCRIPT"`], {
    env: { ...process.env, SCRIPT: code, LANCEDB_LOG: "off" },
    stdout: "pipe",
    stderr: "pipe",
  })
  return (await new Response(child.stdout).text()).trim()
}

const has = (...programs: string[]) => programs.every((program) => Bun.which(program) !== null)
const canMount = has("unshare", "mount") && Bun.spawnSync(["unshare", "-rm", "true"]).success

test.if(canMount)("full: no space is left on the disk", async () => {
  const said = await onSmallDisk("for (let count = 0; count < 50; count++) await table.add([{ id: 'b', text }])")
  expect(said).toBe("full")
})

test.if(canMount)("read-only: the disk takes no writes", async () => {
  const remount =
    'Bun.spawnSync(["mount", "-o", "remount,ro", (await import("node:path")).dirname(connection.display().match(/uri=([^,)]*)/)?.[1] + "/x")])'
  expect(await onSmallDisk(`${remount}; await table.add([{ id: "b", text }])`)).toBe("read_only")
})

async function withServer<Result>(work: (server: ObjectServer) => Promise<Result>): Promise<Result> {
  await using server = await startObjectServer()
  return await work(server)
}

const openOn = async (server: ObjectServer, changed: Record<string, string> = {}, bucket = "pond-test") => {
  const storageOptions = { ...server.storageOptions("s3"), client_max_retries: "0", ...changed }
  return await (await engine().lance.connect(`s3://${bucket}/store`, { storageOptions })).openTable("t")
}

/** A name that no resolver asks the network for: its first part is longer than one may be. */
const NOWHERE = `http://${"x".repeat(64)}.invalid`

test("unreachable: a store that fails, refuses, cuts its answers, or is not there", async () => {
  const faults = ["internalError", "slowDown", "dropRequest", "dropAnswer", "cutBody"] as const
  const faulty = faults.map((fault) =>
    withServer(async (server) => {
      server.setFaults({ [fault]: 1 })
      return await failureSaid(() => openOn(server))
    }),
  )
  const absent = ["http://127.0.0.1:9", NOWHERE].map((endpoint) =>
    withServer((server) => failureSaid(() => openOn(server, { aws_endpoint: endpoint }))),
  )
  expect(await Promise.all([...faulty, ...absent])).toEqual(Array.from({ length: 7 }, () => "unreachable"))
})

test("denied: a wrong key; no bucket: a bucket that is not there", async () => {
  await withServer(async (server) => {
    // At once: the engine asks each six times, and pauses in between.
    const refused = [openOn(server, { aws_access_key_id: "other" }), openOn(server, {}, "other-bucket")]
    expect(await Promise.all(refused.map((each) => failureSaid(() => each)))).toEqual(["denied", "no_bucket"])
  })
})

test("misplaced: a file where a folder of the store's path would be", async () => {
  using folder = new Folder()
  const file = join(folder.path, "file")
  writeFileSync(file, "")
  expect(await failureSaid(() => engine().lance.connect(join(file, "store")))).toBe("misplaced")
})

const isRoot = process.getuid?.() === 0

test.if(!isRoot || has("setpriv"))("denied: a folder of another user", async () => {
  using folder = new Folder()
  await madeTable(folder.path)
  const data = join(folder.path, "t.lance", "data")
  chmodSync(folder.path, 0o755)
  for (const name of ["_versions", "data", ""]) chmodSync(join(folder.path, "t.lance", name), 0o555)
  chmodSync(data, 0o555)
  const code = `
    const { failureOf } = await import(${JSON.stringify(join(import.meta.dir, "../../src/substrate/lance/lance-errors.ts"))})
    const { engine } = await import(${JSON.stringify(join(import.meta.dir, "../../src/substrate/lance/engine.ts"))})
    const table = await (await engine().lance.connect(${JSON.stringify(folder.path)})).openTable("t")
    try { await table.add([{ id: "b", text: "words" }]) } catch (error) { console.log(failureOf(error)) }`
  const command = [...(isRoot ? ["setpriv", "--reuid=65534", "--clear-groups"] : []), process.execPath, "-e", code]
  const child = Bun.spawn(command, { env: { ...process.env, LANCEDB_LOG: "off" }, stdout: "pipe", stderr: "pipe" })
  expect((await new Response(child.stdout).text()).trim()).toBe("denied")
})

test("files_out: a process that has as many files open as it may", async () => {
  using folder = new Folder()
  await madeTable(folder.path)
  const code = `
    const { openSync } = require("node:fs")
    const { failureOf } = await import(${JSON.stringify(join(import.meta.dir, "../../src/substrate/lance/lance-errors.ts"))})
    const { engine } = await import(${JSON.stringify(join(import.meta.dir, "../../src/substrate/lance/engine.ts"))})
    const store = await engine().lance.connect(${JSON.stringify(folder.path)})
    await store.tableNames()
    try { for (;;) openSync("/dev/null", "r") } catch {}
    try { await store.openTable("t") } catch (error) { console.log(failureOf(error)) }`
  const command = ["sh", "-c", 'ulimit -n 128 && exec "$0" -e "$1"', process.execPath, code]
  const child = Bun.spawn(command, { env: { ...process.env, LANCEDB_LOG: "off" }, stdout: "pipe", stderr: "pipe" })
  expect((await new Response(child.stdout).text()).trim()).toBe("files_out")
})

test("what is repeated ends as one typed error that says how often it was tried", async () => {
  const slept: number[] = []
  const context = {
    random: seededRandom(7),
    store: "s3://bucket/store",
    sleep: async (ms: number) => void slept.push(ms),
  }
  let calls = 0
  const conflict = () => {
    calls += 1
    return Promise.reject(new Error("lance error: Commit conflict for version 2: Failed to commit"))
  }
  const failed = await withRetries(context, conflict).catch((error) => error)
  expect(failed).toMatchObject({ code: "conflict", details: { attempts: calls, failure: "conflict" } })
  expect(calls).toBe(8)
  expect(slept.length).toBe(7)
  for (const [index, ms] of slept.entries()) {
    expect(ms).toBeGreaterThanOrEqual((25 * 2 ** index) / 2)
    expect(ms).toBeLessThanOrEqual(25 * 2 ** index)
  }
  calls = 0
  const unknown = () => {
    calls += 1
    return Promise.reject(new Error("something else"))
  }
  expect(await withRetries(context, unknown).catch((error) => error)).toMatchObject({ code: "internal" })
  expect(calls).toBe(1)
})

test("what the user reads of a failure holds neither the engine's prose nor what it quotes", () => {
  const prose = "Generic S3 error: GET https://bucket/?X-Amz-Credential=AKIASECRET"
  const told = storeError(new Error(prose), "s3://bucket/store")
  expect(told.code).toBe("storage_unavailable")
  expect(`${told.message} ${JSON.stringify(told.details)}`).not.toContain("AKIASECRET")
})
