/**
 * `bun run chaos neighbours`: a `pond watch` on a machine where more happens than lines being added: a client with a
 * database writes to it, another puts a session away while it is written, a third is installed, the machine sleeps, the
 * system gives too few watches, a second watcher and scheduled syncs work on the same store. Each thing said must be
 * stored, in time, and once.
 */
import { Database } from "bun:sqlite"
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import type { Sessions } from "../../src/sessions/store.ts"
import { openChaosStore } from "../corpus/chaos-sessions.ts"
import { writeCorpus } from "../corpus/corpus.ts"
import type { Chaos, Outcome } from "../lib/outcome.ts"
import { startWatcher, syncOnce, type Watcher } from "../lib/watcher.ts"
import { ROOT } from "../release/packages.ts"

const PROMISED_MS = 2_000
const LOST_MS = 30_000
const ASLEEP_MS = 15_000
const SESSIONS = 300
const FEW_WATCHES = 20

export const chaos: Chaos = {
  summary: "a watcher beside databases, archived sessions, new clients, sleep, too few watches, other ponds",
  run: async function* () {
    for (const storm of [byEvents, withFewWatches, besideOthers]) {
      const base = mkdtempSync(join(tmpdir(), "pond-neighbours-"))
      try {
        yield* await storm(placeOf(base))
      } finally {
        rmSync(base, { recursive: true, force: true })
      }
    }
  },
}

interface Place {
  readonly home: string
  readonly store: string
  readonly sessions: Sessions
  readonly claude: string
}

function placeOf(base: string): Place {
  const [home, store] = [join(base, "home"), join(base, "store")]
  writeCorpus({ home, sessions: SESSIONS, linesTypical: 4, seed: 1 })
  return { home, store, sessions: openChaosStore(store), claude: join(home, ".claude/projects") }
}

async function byEvents(place: Place): Promise<Outcome[]> {
  const { home, store } = place
  const opencode = join(home, ".local/share/opencode")
  cpSync(join(ROOT, "fixtures/opencode/tools/root"), opencode, { recursive: true })
  rmSync(join(home, ".pi"), { recursive: true })
  const watcher = await startWatcher(home, store)
  const outcomes: Outcome[] = []
  const act = async (what: string, words: string, does: () => void | Promise<void>) => {
    await does()
    outcomes.push(await toldOf(place, what, words))
  }
  const database = new Database(join(opencode, "opencode.db"))
  for (const number of [1, 2, 3]) {
    const words = `spoken to opencode ${number}`
    await act("a database grows while it is watched", words, () => sayToOpencode(database, number, words))
  }
  await act("its log is taken into the database", "spoken before the checkpoint", () => {
    sayToOpencode(database, 4, "spoken before the checkpoint")
    database.run("PRAGMA wal_checkpoint(TRUNCATE)")
  })
  database.close()
  await act("a rollout is archived while it is written", "spoken and put away", () => archiveRollout(home))
  await act("a client is installed", "spoken to pi", () => installPi(home))
  await act("the machine sleeps", "spoken in its sleep", async () => {
    process.kill(watcher.pid, "SIGSTOP")
    sayToClaude(place, "spoken in its sleep")
    await Bun.sleep(ASLEEP_MS)
    process.kill(watcher.pid, "SIGCONT")
  })
  await act("and wakes up", "spoken after it", () => sayToClaude(place, "spoken after it"))
  return [...outcomes, await endOf(watcher), await nothingDoubled(place)]
}

async function withFewWatches(place: Place): Promise<Outcome[]> {
  const watcher = await startWatcher(place.home, place.store, FEW_WATCHES)
  const told = watcher.said.map(({ line }) => line).find((line) => line.includes("sends no change events"))
  sayToClaude(place, "spoken beyond the watches")
  return [
    { what: "too few watches are told", isRight: told !== undefined, found: told ?? "nothing" },
    await toldOf(place, "too few watches", "spoken beyond the watches"),
    await endOf(watcher),
    await nothingDoubled(place),
  ]
}

async function besideOthers(place: Place): Promise<Outcome[]> {
  const { home, store } = place
  const first = await startWatcher(home, store)
  sayToClaude(place, "spoken to two")
  const second = await startWatcher(home, store)
  const outcomes: Outcome[] = []
  const exits: number[] = []
  for (let number = 0; number < 5; number++) {
    const words = `spoken beside a sync, ${number}`
    const syncing = syncOnce(home, store)
    sayToClaude(place, words)
    outcomes.push(await toldOf(place, "two watchers and a scheduled sync", words))
    exits.push(await syncing)
  }
  outcomes.push({ what: "the syncs beside", isRight: exits.every((exit) => exit === 0), found: `exit ${exits}` })
  outcomes.push(await endOf(first))
  sayToClaude(place, "spoken to who is left")
  outcomes.push(await toldOf(place, "the other watcher goes on alone", "spoken to who is left"))
  return [...outcomes, await endOf(second), await nothingDoubled(place)]
}

// --- What is judged ------------------------------------------------------------------------------------------------------

async function toldOf({ sessions }: Place, what: string, words: string): Promise<Outcome> {
  const beganMs = performance.now()
  let isThere = false
  while (!isThere && performance.now() - beganMs < LOST_MS) {
    await Bun.sleep(50)
    isThere = (await spoken(sessions)).some((text) => text.includes(words))
  }
  const ms = performance.now() - beganMs
  const found = isThere ? `stored after ${ms.toFixed(0)} ms` : "lost"
  return { what, isRight: isThere && ms < PROMISED_MS, found }
}

async function spoken({ tables }: Sessions): Promise<string[]> {
  return (await tables.messages.read({ columns: ["search_text"] })).map(({ search_text }) => search_text ?? "")
}

async function endOf(watcher: Watcher): Promise<Outcome> {
  const exitCode = await watcher.end()
  return { what: "Ctrl-C", isRight: exitCode === 0, found: `exit code ${exitCode}` }
}

async function nothingDoubled({ sessions }: Place): Promise<Outcome> {
  const told = (await spoken(sessions)).filter((text) => text.startsWith("spoken "))
  const doubled = told.length - new Set(told).size
  return {
    what: "said once",
    isRight: doubled === 0 && told.length > 0,
    found: `${told.length} things, ${doubled} twice`,
  }
}

// --- What clients do ---------------------------------------------------------------------------------------------------

let said = 0

function sayToClaude({ claude }: Place, content: string): void {
  const [log = ""] = new Bun.Glob("*/*.jsonl").scanSync({ cwd: claude })
  const uuid = `50ac0000-0000-4000-8000-${String(++said).padStart(12, "0")}`
  const frame = { type: "user", uuid, parentUuid: null, sessionId: basename(log, ".jsonl"), cwd: "/home/someone" }
  const line = { ...frame, version: "2.1.0", timestamp: "2026-05-01T00:00:00.000Z", message: { role: "user", content } }
  appendFileSync(join(claude, log), `${JSON.stringify(line)}\n`)
}

/** A message like one that is there. */
function sayToOpencode(database: Database, number: number, text: string): void {
  const message = database.query('SELECT * FROM message WHERE data LIKE \'%"role":"user"%\' LIMIT 1').get() as Row
  const nowMs = Date.now()
  const times = { time_created: nowMs, time_updated: nowMs }
  const data = JSON.stringify({ ...JSON.parse(message.data), time: { created: nowMs } })
  const own = { id: `msg_1ffffffff00${number}FW56lnXOgbnkrL`, session_id: message.session_id, ...times }
  const part = { ...own, id: `prt_1ffffffff00${number}gtaQ0gi6Yb3H20`, data: JSON.stringify({ type: "text", text }) }
  database.transaction(() => {
    database.run("INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?)", [
      ...Object.values(own),
      data,
    ])
    const values = [part.id, own.id, part.session_id, part.time_created, part.time_updated, part.data]
    database.run(
      "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?, ?)",
      values,
    )
    database.run("UPDATE session SET time_updated = ? WHERE id = ?", [nowMs, own.session_id])
  })()
}

interface Row {
  readonly session_id: string
  readonly data: string
}

function archiveRollout(home: string): void {
  const codex = join(home, ".codex")
  const [place = ""] = new Bun.Glob("sessions/**/*.jsonl").scanSync({ cwd: codex })
  const content = [{ type: "input_text", text: "spoken and put away" }]
  const payload = { type: "message", role: "user", content }
  const line = `${JSON.stringify({ timestamp: new Date().toISOString(), type: "response_item", payload })}\n`
  const event = { type: "user_message", message: "spoken and put away", images: [] }
  appendFileSync(join(codex, place), line)
  mkdirSync(join(codex, "archived_sessions"), { recursive: true })
  const archived = join(codex, "archived_sessions", basename(place))
  renameSync(join(codex, place), archived)
  appendFileSync(
    archived,
    `${JSON.stringify({ timestamp: new Date().toISOString(), type: "event_msg", payload: event })}\n`,
  )
}

function installPi(home: string): void {
  const folder = join(home, ".pi-new/agent/sessions/--home-someone--")
  mkdirSync(folder, { recursive: true })
  const log = readFileSync(join(ROOT, "fixtures/pi/tools/root", piFixture()), "utf8")
    .trimEnd()
    .split("\n")
  const last = JSON.parse(log.findLast((line) => line.includes('"role":"user"')) ?? "{}")
  const text = [{ type: "text", text: "spoken to pi" }]
  const more = { ...last, id: "50ac0001", parentId: null, message: { ...last.message, content: text } }
  writeFileSync(join(folder, basename(piFixture())), `${[...log, JSON.stringify(more)].join("\n")}\n`)
  renameSync(join(home, ".pi-new"), join(home, ".pi"))
}

function piFixture(): string {
  const files = readdirSync(join(ROOT, "fixtures/pi/tools/root"), { recursive: true, encoding: "utf8" })
  return files.find((file) => file.endsWith(".jsonl")) ?? ""
}
