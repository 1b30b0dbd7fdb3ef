/**
 * `bun run chaos watch [--minutes N] [--sessions N] [--seed N] [--blind] [--breathless]`: one `pond watch` over thousands of
 * sessions, while their clients, editors and people do to them what they do in a day: lines are added, files replaced,
 * projects made and renamed, the whole root taken away and brought back. Each thing said must be stored within two seconds,
 * an idle watcher must cost nothing, and at the end the store is the one that a single calm sync would have made. Now and
 * then everybody thinks for some seconds, unless they are `--breathless`. `--blind` takes the events away, as a network file
 * system does: then it looks by itself, and a session that rested for days is heard within five seconds.
 */
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { type Random, seededRandom } from "../../src/platform/host/random.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { openChaosStore } from "../corpus/chaos-sessions.ts"
import { writeCorpus } from "../corpus/corpus.ts"
import { quantile } from "../lib/measure.ts"
import { type Chaos, numberFlag, type Outcome } from "../lib/outcome.ts"
import { type Said, startWatcher, syncOnce } from "../lib/watcher.ts"

const SESSIONS_DEFAULT = 3_000
const PROMISED_MS = 2_000
const PROMISED_BLIND_MS = 5_000
/** Most sessions rest: only one of so many was gone on with today. */
const DAYS = 30
/** A thing that takes longer than this is lost. */
const LOST_MS = 60_000
const IDLE_MS = 60_000
const IDLE_SHARE_MAX = 0.01
const GROWTH_MB_MAX = 100
/** Of a store that was tended at the end. While it is written to there are more. */
const FILES_MAX = 500
/** What is held is noted so often in a day. */
const HOURS = 12
/** After one act of so many everybody thinks for a while. */
const ACTS_BETWEEN_BREAKS = 15
const BREAK_MS = 4_000
/** Of so many of the slowest acts it is told what the watcher did meanwhile. */
const SLOWEST = 3

export const chaos: Chaos = {
  summary: "a watcher over thousands of sessions, on a day that is as long as it is told",
  run: async function* (args) {
    const base = mkdtempSync(join(tmpdir(), "pond-soak-"))
    try {
      yield* await soak(base, {
        minutes: numberFlag(args, "minutes", 5),
        sessions: numberFlag(args, "sessions", SESSIONS_DEFAULT),
        seed: numberFlag(args, "seed", 1),
        isBlind: args.includes("--blind"),
        isBreathless: args.includes("--breathless"),
      })
    } finally {
      rmSync(base, { recursive: true, force: true })
    }
  },
}

interface Day {
  readonly minutes: number
  readonly sessions: number
  readonly seed: number
  readonly isBlind: boolean
  readonly isBreathless: boolean
}

interface Done {
  readonly act: string
  readonly fromMs: number
  readonly ms: number
}

async function soak(base: string, { minutes, sessions, seed, isBlind, isBreathless }: Day): Promise<Outcome[]> {
  const [home, store] = [join(base, "home"), join(base, "store")]
  const { files } = writeCorpus({ home, sessions, linesTypical: 4, seed })
  for (const [number, file] of files.entries()) age(file, number % DAYS)
  const promisedMs = isBlind ? PROMISED_BLIND_MS : PROMISED_MS
  const watcher = await startWatcher(home, store, isBlind ? 0 : undefined)
  const { pid, said } = watcher
  const stored = openChaosStore(store)
  const world = createWorld(join(home, ".claude"), seededRandom(seed))
  const [held, done]: [Held[], Done[]] = [[holds(pid, store)], []]
  const [beganMs, dayMs] = [performance.now(), minutes * 60_000]
  while (performance.now() < beganMs + dayMs) {
    const act = await world.act()
    const fromMs = performance.now()
    done.push({ act, fromMs, ms: await isStored(stored, world.last()) })
    if (performance.now() - beganMs > (held.length / HOURS) * dayMs) held.push(holds(pid, store))
    if (!isBreathless && done.length % ACTS_BETWEEN_BREAKS === 0) await Bun.sleep(BREAK_MS)
  }
  const share = await idleShare(pid)
  held.push(holds(pid, store))
  const exitCode = await watcher.end()
  await syncOnce(home, join(base, "calm"))
  const [watched, calm] = await Promise.all([stored.counts(), openChaosStore(join(base, "calm")).counts()])
  return [
    ...[...Map.groupBy(done, ({ act }) => act), ["all acts", done] as const].map(([act, all]) =>
      waitOf(act, all, promisedMs),
    ),
    ...slowestOf(done, said),
    { what: "idle", isRight: share < IDLE_SHARE_MAX, found: `${(share * 100).toFixed(2)} % of a processor` },
    ...growthOf(held),
    { what: "Ctrl-C", isRight: exitCode === 0, found: `exit code ${exitCode}` },
    {
      what: "the store at the end",
      // What was rewritten or cut away since is in the watcher's store alone.
      isRight: watched.sessions >= calm.sessions && watched.messages >= calm.messages && calm.messages > 0,
      found: `${watched.sessions} sessions, ${watched.messages} messages; a calm sync of what lies there now: ${calm.sessions}, ${calm.messages}`,
    },
  ]
}

// --- What happens to sessions ------------------------------------------------------------------------------------------

interface World {
  /** Adds one line to some session. */
  say(): Promise<void>
  /** Does something, says a line through it, and tells what it was. */
  act(): Promise<string>
  /** The id of the last line that was said. */
  last(): string
}

function createWorld(root: string, random: Random): World {
  const projects = join(root, "projects")
  let number = 0
  let uuid = ""
  const below = (end: number) => Math.floor(random.next() * end)
  const logs = () => [...new Bun.Glob("*/*.jsonl").scanSync({ cwd: projects })]
  const some = () => join(projects, logs()[below(logs().length)] ?? "")

  function lineOf(session: string): string {
    uuid = `50ac0000-0000-4000-8000-${String(++number).padStart(12, "0")}`
    const message = { role: "user", content: `line ${number}` }
    const frame = { type: "user", uuid, parentUuid: null, sessionId: session, cwd: "/home/someone", version: "2.1.0" }
    return `${JSON.stringify({ ...frame, timestamp: "2026-05-01T00:00:00.000Z", message })}\n`
  }
  const add = (log: string) => appendFileSync(log, lineOf(basename(log, ".jsonl")))
  const create = (folder: string) => {
    mkdirSync(folder, { recursive: true })
    add(join(folder, `50ac0000-0000-4000-9000-${String(number).padStart(12, "0")}.jsonl`))
  }

  const acts: Readonly<Record<string, () => void | Promise<void>>> = {
    "a line is added": () => add(some()),
    "twenty lines are added, one by one": async () => {
      const log = some()
      for (let line = 0; line < 20; line++) {
        add(log)
        await Bun.sleep(5)
      }
    },
    "a session is begun": () => create(join(projects, "-home-someone-work-1")),
    "a project is begun": () => create(join(projects, `-home-someone-new-${number}`)),
    "a file is replaced": () => {
      const log = some()
      writeFileSync(`${log}.tmp`, `${readFileSync(log, "utf8")}${lineOf(basename(log, ".jsonl"))}`)
      renameSync(`${log}.tmp`, log)
    },
    "a project is renamed": () => {
      const log = some()
      const moved = join(projects, `-home-someone-moved-${number}`)
      renameSync(dirname(log), moved)
      add(join(moved, basename(log)))
    },
    "two hundred sessions are touched": () => {
      for (const log of logs().slice(0, 200)) add(join(projects, log))
    },
    "the root goes and comes back": async () => {
      renameSync(root, `${root}.away`)
      await Bun.sleep(300)
      renameSync(`${root}.away`, root)
      add(some())
    },
  }
  const names = Object.keys(acts)

  return {
    say: () => Promise.resolve(add(some())),
    act: async () => {
      const name = names[below(names.length)] ?? ""
      await acts[name]?.()
      return name
    },
    last: () => uuid,
  }
}

function age(file: string, days: number): void {
  const atMs = Date.now() - days * 86_400_000
  utimesSync(file, atMs / 1_000, atMs / 1_000)
}

// --- Processes ----------------------------------------------------------------------------------------------------------

/** How long it took. */
async function isStored(sessions: Sessions, messageId: string): Promise<number> {
  const began = performance.now()
  while (performance.now() - began < LOST_MS) {
    if ((await sessions.messages(messageId)).length > 0) break
    await Bun.sleep(50)
  }
  return performance.now() - began
}

/** Linux counts in hundredths of a second. */
function processorMs(pid: number): number {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")
  const fields = rest.split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** What follows the last change, an index that is folded, is work. */
async function idleShare(pid: number): Promise<number> {
  await Bun.sleep(20_000)
  const before = processorMs(pid)
  await Bun.sleep(IDLE_MS)
  return (processorMs(pid) - before) / IDLE_MS
}

function waitOf(act: string, done: readonly Done[], promisedMs: number): Outcome {
  const all = done.map(({ ms }) => ms)
  const [half, most, last] = [quantile(all, 0.5), quantile(all, 0.95), Math.max(...all)].map((ms) => ms.toFixed(0))
  return {
    what: `${act}, ${all.length} times`,
    isRight: quantile(all, 0.95) <= promisedMs && Math.max(...all) < LOST_MS,
    found: `stored after ${half} ms, 95 of 100 within ${most} ms, at last ${last} ms`,
  }
}

function slowestOf(done: readonly Done[], said: readonly Said[]): Outcome[] {
  const slowest = done.toSorted((one, other) => other.ms - one.ms).slice(0, SLOWEST)
  return slowest.map(({ act, fromMs, ms }) => {
    const meanwhile = said.filter(({ atMs }) => atMs >= fromMs - PROMISED_MS && atMs <= fromMs + ms)
    const lines = meanwhile.map(({ atMs, line }) => `\n         ${(atMs - fromMs).toFixed(0).padStart(6)} ms  ${line}`)
    return { what: "among the slowest", isRight: true, found: `${act}, ${ms.toFixed(0)} ms${lines.join("")}` }
  })
}

interface Held {
  readonly megabytes: number
  readonly descriptors: number
  readonly threads: number
  /** Of the store on the disk: old versions and what is not folded yet with it. */
  readonly files: number
}

function holds(pid: number, store: string): Held {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const numberOf = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1])
  return {
    megabytes: Math.round((numberOf("VmRSS") * 1_024) / 1e6),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    threads: numberOf("Threads"),
    files: readdirSync(store, { recursive: true }).length,
  }
}

/** What the first hour of the day holds is warmth; what the last one holds beyond it, a leak. */
function growthOf(held: readonly Held[]): Outcome[] {
  const [first, last] = [held[1] ?? held[0], held.at(-1)]
  if (first === undefined || last === undefined) return []
  const limits = { megabytes: GROWTH_MB_MAX, descriptors: 10, threads: 10, files: FILES_MAX } as const
  return (Object.keys(limits) as (keyof Held)[]).map((what) => ({
    what,
    isRight: last[what] - first[what] < limits[what],
    found: `${held.map((each) => each[what]).join(" ")}; after the first hour ${first[what]}, at the end ${last[what]}`,
  }))
}
