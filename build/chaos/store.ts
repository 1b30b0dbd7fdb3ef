/**
 * `bun run chaos store [STORM…] [--seconds N] [--kills N] [--writers N] [--seed N]`: writers that overlap, are killed, meet faults of a
 * network, a full disk, a read-only one and each other's maintenance. After each storm one calm import stores everything;
 * nothing may be lost, doubled or half, neither before it nor after, and every failure is one typed error.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type PondError, toPondError } from "../../src/model/errors.ts"
import { type Random, seededRandom } from "../../src/platform/host/random.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import type { Faults } from "../../test/support/object-faults.ts"
import { startObjectServer, TEST_BUCKET, TEST_KEY } from "../../test/support/object-server.ts"
import { judge, lengthOf, openChaosStore, sessionBatch } from "../corpus/chaos-sessions.ts"
import { type Chaos, numberFlag, type Outcome } from "../lib/outcome.ts"
import { ROOT } from "../release/packages.ts"

const SESSIONS = 300
const WRITERS = 4
const STORMS: Readonly<Record<string, (weather: Weather) => AsyncIterable<Outcome>>> = {
  writers,
  kills,
  bucket,
  faults: network,
  full,
  "read-only": readOnly,
  maintenance,
}

interface Weather {
  readonly seconds: number
  readonly kills: number
  /** How many write to a bucket at once. */
  readonly writers: number
  readonly seed: number
  readonly random: Random
  /** A directory of this storm's own. */
  readonly base: string
}

export const chaos: Chaos = {
  summary: "overlapping writers, kills, faults, a full disk, a read-only one, two maintenances",
  run: async function* (args) {
    const asked = Object.keys(STORMS).filter((name) => args.includes(name))
    const seed = numberFlag(args, "seed", Math.floor(Math.random() * 2 ** 31))
    console.log(`--seed ${seed}`)
    for (const name of asked.length > 0 ? asked : Object.keys(STORMS)) {
      const base = mkdtempSync(join(tmpdir(), "pond-chaos-"))
      const storm = STORMS[name] as (weather: Weather) => AsyncIterable<Outcome>
      const [seconds, killCount] = [numberFlag(args, "seconds", 60), numberFlag(args, "kills", 200)]
      try {
        const crowd = numberFlag(args, "writers", 50)
        yield* storm({ seconds, kills: killCount, writers: crowd, seed, random: seededRandom(seed), base })
      } finally {
        Bun.spawnSync(["umount", "-l", join(base, "disk")])
        rmSync(base, { recursive: true, force: true })
      }
    }
  },
}

// --- What the writers said -------------------------------------------------------------------------------------------

interface Said {
  /** Of each session, how many of its messages were acknowledged. */
  readonly stored: Map<number, number>
  readonly failures: Map<string, number>
  /** What no pond should say. */
  readonly untyped: string[]
  writes: number
}

function nothingSaid(): Said {
  return { stored: new Map(), failures: new Map(), untyped: [], writes: 0 }
}

interface Line {
  readonly stored?: readonly (readonly [number: number, messages: number])[]
  readonly failed?: string
  readonly message?: string
  readonly details?: unknown
}

function note(said: Said, line: Line): void {
  if (line.stored !== undefined) {
    said.writes += 1
    for (const [number, messages] of line.stored) {
      said.stored.set(number, Math.max(messages, said.stored.get(number) ?? 0))
    }
  }
  if (line.failed === undefined) return
  said.failures.set(line.failed, (said.failures.get(line.failed) ?? 0) + 1)
  if (line.failed === "internal") said.untyped.push(line.message ?? "")
}

function startWriter(url: string, seed: number, seconds: number, role = "write") {
  const command = [
    process.execPath,
    join(ROOT, "build/lib/chaos-writer.ts"),
    url,
    `${seed}`,
    `${SESSIONS}`,
    `${seconds}`,
    role,
  ]
  return Bun.spawn(command, { stdout: "pipe", stderr: "inherit", env: { ...process.env, LANCEDB_LOG: "off" } })
}

/** A line that a kill has cut was not said. */
async function listen(child: ReturnType<typeof startWriter>, said: Said, onBegin?: () => void): Promise<void> {
  let unended = ""
  const decoder = new TextDecoder()
  for await (const bytes of child.stdout) {
    const lines = (unended + decoder.decode(bytes, { stream: true })).split("\n")
    unended = lines.pop() ?? ""
    for (const line of lines) note(said, JSON.parse(line) as Line)
    onBegin?.()
  }
  onBegin?.()
}

function failuresOf({ failures }: Said): string {
  return [...failures].map(([code, count]) => `${count} ${code}`).join(", ") || "no failure"
}

// --- The judgement after a storm ---------------------------------------------------------------------------------------

async function* judged(what: string, url: string, said: Said): AsyncGenerator<Outcome> {
  const store = openChaosStore(url)
  const stormy = await judge(store, said.stored)
  yield {
    what: `${what}: ${said.writes} writes acknowledged, ${failuresOf(said)}`,
    isRight: said.writes > 0 && said.untyped.length === 0 && stormy.faults.length === 0,
    found: `${stormy.sessions} sessions, ${stormy.messages} messages; ${summed([...stormy.faults, ...said.untyped])}`,
  }
  const all = new Map(Array.from({ length: SESSIONS }, (_, number) => [number, lengthOf(number)]))
  await store.write([...all].map(([number, messages]) => sessionBatch(number, messages)))
  await store.maintain("all")
  const calm = await judge(openChaosStore(url), all)
  const whole = [...all.values()].reduce((sum, messages) => sum + messages, 0)
  yield {
    what: `${what}: then one calm import of everything`,
    isRight: calm.faults.length === 0 && calm.messages === whole && calm.sessions === SESSIONS,
    found: `${calm.sessions} sessions, ${calm.messages} of ${whole} messages; ${summed(calm.faults)}`,
  }
  store.close()
}

const SHOWN = 3

function summed(faults: readonly string[]): string {
  if (faults.length === 0) return "nothing lost, doubled or half"
  return `${faults.slice(0, SHOWN).join("; ")}${faults.length > SHOWN ? ` and ${faults.length - SHOWN} more` : ""}`
}

// --- The storms --------------------------------------------------------------------------------------------------------

async function* writers({ base, seconds, seed }: Weather): AsyncGenerator<Outcome> {
  const said = nothingSaid()
  const children = Array.from({ length: WRITERS }, (_, writer) => startWriter(base, seed + writer, seconds))
  await Promise.all(children.map((child) => listen(child, said)))
  yield* judged(`${WRITERS} processes for ${seconds} s`, base, said)
}

/** From when it begins to write. */
const LIFE_MS_MAX = 3000
/** So often it is a maintenance that is killed. */
const MAINTAINED_EVERY = 4

async function* kills({ base, kills: count, seed, random }: Weather): AsyncGenerator<Outcome> {
  const said = await killed(base, { writers: WRITERS, count, seed, random })
  yield* judged(`${count} kills of writers and maintenances`, base, said)
}

/** Through the gateway that stands between the engine and a bucket. */
async function* bucket({ kills: count, writers: crowd, seed, random }: Weather): AsyncGenerator<Outcome> {
  process.env["AWS_ACCESS_KEY_ID"] = TEST_KEY.accessKeyId
  process.env["AWS_SECRET_ACCESS_KEY"] = TEST_KEY.secretAccessKey
  await using server = await startObjectServer({ seed })
  const url = `${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/store`
  const said = await killed(url, { writers: crowd, count, seed, random })
  yield* judged(`S3, ${crowd} writers at once, ${count} kills of writers and maintenances`, url, said)
}

interface Killing extends Pick<Weather, "writers" | "seed" | "random"> {
  readonly count: number
}

/** So many live at once, each is killed, and another takes its place. */
async function killed(url: string, { writers: alive, count, seed, random }: Killing): Promise<Said> {
  const said = nothingSaid()
  let begun = 0
  const line = async () => {
    while (begun < count) {
      begun += 1
      const child = startWriter(url, seed + begun, 3600, begun % MAINTAINED_EVERY === 0 ? "maintain" : "write")
      const begins = Promise.withResolvers<void>()
      const heard = listen(child, said, begins.resolve)
      await begins.promise
      await Bun.sleep(random.next() * LIFE_MS_MAX)
      child.kill("SIGKILL")
      await heard
    }
  }
  await Promise.all(Array.from({ length: Math.min(alive, count) }, line))
  return said
}

const RATE = 0.1
const FAULTS: readonly (readonly [name: string, faults: Faults])[] = [
  ["latency", { latency: { rate: RATE, ms: 200 } }],
  ["500", { internalError: RATE }],
  ["503", { slowDown: RATE }],
  ["409", { writeConflict: RATE }],
  ["dropped requests", { dropRequest: RATE }],
  ["dropped answers", { dropAnswer: RATE }],
  ["cut bodies", { cutBody: RATE }],
  ["slow bodies", { slowBody: { rate: RATE, ms: 50 } }],
]
const FAULT_SHARE = 1 / 4

async function* network({ seconds, seed }: Weather): AsyncGenerator<Outcome> {
  process.env["AWS_ACCESS_KEY_ID"] = TEST_KEY.accessKeyId
  process.env["AWS_SECRET_ACCESS_KEY"] = TEST_KEY.secretAccessKey
  for (const [name, weather] of FAULTS) {
    await using server = await startObjectServer({ faults: weather, seed })
    const url = `${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/store`
    const said = nothingSaid()
    const children = [0, 1].map((writer) => startWriter(url, seed + writer, seconds * FAULT_SHARE))
    await Promise.all(children.map((child) => listen(child, said)))
    const asked = server.requests.length
    server.setFaults({})
    yield* judged(`S3 with ${RATE * 100} % ${name}, ${asked} requests`, url, said)
  }
}

async function* maintenance({ base, seconds, seed }: Weather): AsyncGenerator<Outcome> {
  const said = nothingSaid()
  const roles = ["write", "write", "maintain", "maintain"]
  const children = roles.map((role, writer) => startWriter(base, seed + writer, seconds / 2, role))
  await Promise.all(children.map((child) => listen(child, said)))
  yield* judged("two writers beside two maintenances", base, said)
}

// --- Storms on a disk of their own -------------------------------------------------------------------------------------

/** In a separate mount namespace: `unshare` runs this script again there, and there it may mount. */
const INSIDE = "POND_CHAOS_INSIDE"

async function* onSmallDisk(
  storm: string,
  weather: Weather,
  inside: () => AsyncIterable<Outcome>,
): AsyncGenerator<Outcome> {
  if (process.env[INSIDE] !== undefined) {
    yield* inside()
    return
  }
  if (Bun.which("unshare") === null || !Bun.spawnSync(["unshare", "-rm", "true"]).success) {
    yield { what: storm, isRight: true, found: "left out: this user may not mount a disk" }
    return
  }
  const again = [process.execPath, join(ROOT, "build/chaos.ts"), "store", storm]
  const flags = ["--seconds", `${weather.seconds}`, "--seed", `${weather.seed}`]
  const child = Bun.spawn(["unshare", "-rm", ...again, ...flags], {
    env: { ...process.env, [INSIDE]: "1", LANCEDB_LOG: "off" },
    stdout: "inherit",
    stderr: "inherit",
  })
  const exitCode = await child.exited
  yield { what: `the storm "${storm}" above`, isRight: exitCode === 0, found: `exit code ${exitCode}` }
}

function mount(...args: readonly string[]): void {
  const { success, stderr } = Bun.spawnSync(["mount", ...args])
  if (!success) throw new Error(`mount ${args.join(" ")}: ${stderr}`)
}

function smallDisk({ base }: Weather, megabytes: number): string {
  const path = join(base, "disk")
  mkdirSync(path)
  mount("-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path)
  return path
}

const DISK_MB = 2

async function* full(weather: Weather): AsyncGenerator<Outcome> {
  yield* onSmallDisk("full", weather, async function* () {
    const base = smallDisk(weather, DISK_MB)
    const said = nothingSaid()
    const children = [0, 1].map((writer) => startWriter(base, weather.seed + writer, 600, "until failed"))
    await Promise.all(children.map((child) => listen(child, said)))
    const codes = [...said.failures.keys()]
    yield {
      what: `a disk of ${DISK_MB} MB: ${said.writes} writes acknowledged until it was full`,
      isRight: said.writes > 0 && codes.length === 1 && codes[0] === "storage_unavailable",
      found: failuresOf(said),
    }
    mount("-o", "remount,size=1g", base)
    yield* judged("a full disk, and then room again", base, said)
  })
}

async function* readOnly(weather: Weather): AsyncGenerator<Outcome> {
  yield* onSmallDisk("read-only", weather, async function* () {
    const base = smallDisk(weather, 1000)
    const said = nothingSaid()
    // By a process that is gone afterwards: a disk does not become read-only while a file is open for writing.
    await listen(startWriter(base, weather.seed, weather.seconds / 6), said)
    mount("-o", "remount,ro", base)
    const store = openChaosStore(base)
    const read = await judge(store, said.stored)
    yield { what: "a read-only store is read", isRight: read.faults.length === 0, found: summed(read.faults) }
    for (const [what, work] of REFUSED) {
      const error = await work(store).then(
        () => undefined,
        (failure: unknown): PondError => toPondError(failure),
      )
      yield {
        what: `a read-only store refuses ${what}`,
        isRight: error?.code === "storage_unavailable",
        found: error === undefined ? "it did not" : `${error.code}: ${error.message}`,
      }
    }
    mount("-o", "remount,rw", base)
    yield* judged("a read-only store, and then writable again", base, said)
  })
}

const REFUSED: readonly (readonly [what: string, work: (store: Sessions) => Promise<unknown>])[] = [
  ["a write", (store) => store.write([sessionBatch(1, 1)])],
  ["a write of what it has", (store) => store.write([sessionBatch(0, 1)])],
  ["maintenance", (store) => store.maintain("all")],
]
