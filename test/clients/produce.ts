/**
 * Sessions of real clients: each scenario is played by a client against the scripted model in a separate home, and what it
 * left is saved beside `expected.json`, which says what the client itself told its model last.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { deflateSync } from "node:zlib"
import type { Client, Options } from "./client.ts"
import type { Step } from "./drive.ts"
import type { Item } from "./model/request.ts"
import { SUMMARY } from "./model/script.ts"
import { type Place, sessionsOf } from "./place.ts"
import { type Ran, run, truthOf } from "./run.ts"

export interface Expected {
  readonly sessions: Readonly<Record<string, ExpectedSession>>
}

export interface ExpectedSession {
  readonly cwd: string
  /** Where it was held, if that is elsewhere. */
  readonly project?: string
  readonly items: readonly Item[]
}

const PROMPTS = {
  plain: "[[script:plain]] Hello, a plain question — 質問です",
  tools: '[[script:tools]] the tour of the tools, please 道具 "quoted" & <tag>',
  plain2: "[[script:plain2]] a second prompt 二番",
  plain3: "[[script:plain3]] a third prompt",
  forked: "[[script:forked]] in another direction",
  sub: "[[script:sub]] let somebody else count",
  image: "[[script:image]] what is in the picture?",
  long: "[[script:long]] the very long answer, please",
  big: "[[script:big]] fill the context",
  plan: "[[script:plan]] make a list of it first",
}

// --- A scenario as it is played ----------------------------------------------------------------------------------------

interface Play {
  readonly client: Client
  readonly place: Place
  readonly home: string
  readonly log: string
  readonly sessions: Map<string, ExpectedSession>
}

interface More extends Options {
  readonly cwd?: string
  readonly lingerSeconds?: number
}

function perform(play: Play, words: readonly string[], { cwd, lingerSeconds }: More = {}): Ran {
  const { client, place, home, log } = play
  const linger = lingerSeconds === undefined ? {} : { lingerSeconds }
  const ran = run({ client, place, home, cwd: cwd ?? place.alpha, log, words, ...linger })
  if (ran.code === 0) return ran
  throw new Error(`${words.slice(0, 4).join(" ")} ended with ${ran.code}: ${(ran.complaints || ran.said).slice(-500)}`)
}

function ownSessions({ client, home }: Play): Set<string> {
  return new Set(client.sessions(home).flatMap(({ id, isAgent }) => (isAgent ? [] : [id])))
}

/** Performs, and keeps the truth of the one session that is new, or of the one that was named. */
function told(play: Play, session: string | undefined, words: readonly string[], more: More = {}): string {
  const before = ownSessions(play)
  const cwd = more.cwd ?? play.sessions.get(session ?? "")?.cwd ?? play.place.alpha
  const ran = perform(play, words, { ...more, cwd })
  const made = [...ownSessions(play)].filter((each) => !before.has(each))
  const id = made[0] ?? session
  const items = truthOf(ran.requests)?.filter((item) => play.client.isOwn?.(item) !== true)
  if (id === undefined || made.length > 1 || items === undefined)
    throw new Error(`${made.length} new sessions, ${ran.requests.length} requests: ${ran.complaints.slice(-500)}`)
  play.sessions.set(id, { cwd, items })
  return id
}

const begun = (play: Play, prompt: string, more: More = {}) =>
  told(play, undefined, play.client.begin(prompt, more), more)
const resumed = (play: Play, session: string, prompt: string, more: More = {}) =>
  told(play, session, play.client.resume(session, prompt, more), more)
const forked = (play: Play, session: string, prompt: string) => told(play, session, play.client.fork(session, prompt))

function driven(play: Play, steps: readonly Step[], ...words: readonly string[]): Ran {
  const script = join(import.meta.dir, "drive.ts")
  return perform(play, [process.execPath, script, play.client.name, JSON.stringify(steps), ...words])
}

// --- Scenarios ---------------------------------------------------------------------------------------------------------

interface Scenario {
  /** The clients that have it. Absent: all. */
  readonly of?: readonly string[]
  /** Clients that have no such thing, where all others do. */
  readonly notOf?: readonly string[]
  play(play: Play): void
}

const PIS = ["pi", "pi-old"]
const GOOGLES = ["gemini", "qwen"]
const OPENCODES = ["opencode", "kilo"]

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  plain: { play: (play) => begun(play, PROMPTS.plain) },
  tools: { play: (play) => begun(play, PROMPTS.tools) },
  "tools-unicode": { play: (play) => begun(play, PROMPTS.tools, { cwd: play.place.beta }) },
  resume: {
    play: (play) => {
      const session = begun(play, PROMPTS.tools)
      resumed(play, resumed(play, session, PROMPTS.plain2), PROMPTS.plain3)
    },
  },
  fork: {
    notOf: [
      ...["cline", "hermes", "amp", "goose", "vibe", "vibe-old", "openhands", "openclaw", "aider", "gemini", "copilot"],
    ],
    play: (play) => {
      const session = begun(play, PROMPTS.plain)
      resumed(play, session, PROMPTS.plain2)
      resumed(play, forked(play, session, PROMPTS.forked), PROMPTS.plain3)
    },
  },
  subagent: {
    of: ["claude", "codex", "kimi", "cline", "omp", "hermes", "goose", "grok", ...GOOGLES, "copilot", ...OPENCODES],
    play: (play) => {
      play.client.configure(play.home, { model: "gpt-5-codex" })
      const session = begun(play, PROMPTS.sub, { lingerSeconds: 1 })
      if (!readFileSync(play.log, "utf8").includes("SUBWORK-TEXT")) throw new Error("no sub-agent asked anything")
      resumed(play, session, PROMPTS.plain2)
    },
  },
  plan: {
    of: OPENCODES,
    play: (play) => {
      const session = begun(play, PROMPTS.plan)
      if (!play.sessions.get(session)?.items.some(({ role }) => role === "result")) throw new Error("no list was made")
      resumed(play, session, PROMPTS.plain2)
    },
  },
  image: {
    notOf: [
      ...[
        "cline",
        "hermes",
        "droid",
        "cn",
        "amp",
        "goose",
        "vibe",
        "vibe-old",
        "openhands",
        "openclaw",
        "grok",
        "aider",
      ],
    ],
    play: (play) => {
      const session = begun(play, PROMPTS.image, { image: join(play.place.alpha, "pic.png") })
      if (!play.sessions.get(session)?.items.some(({ images }) => images !== undefined))
        throw new Error("no picture was sent")
    },
  },
  long: { play: (play) => resumed(play, begun(play, PROMPTS.long), PROMPTS.plain2) },
  multi: {
    play: (play) => {
      const { beta } = play.place
      begun(play, PROMPTS.plain)
      begun(play, PROMPTS.tools, { cwd: beta })
      begun(play, PROMPTS.tools)
      begun(play, PROMPTS.plain, { cwd: beta })
    },
  },
  compact: {
    notOf: ["cline", "droid", "cn", "amp", "goose", "vibe-old", "openhands", "openclaw", "grok", "aider", "gemini"],
    play: playCompaction,
  },
  codemode: {
    of: ["codex"],
    play: (play) => {
      play.client.configure(play.home, { model: "gpt-6-sol" })
      resumed(play, begun(play, PROMPTS.tools), PROMPTS.plain2)
    },
  },
  autocompact: {
    of: ["codex"],
    play: (play) => {
      const session = begun(play, PROMPTS.tools)
      resumed(play, session, PROMPTS.big)
      resumed(play, session, PROMPTS.plain2, { args: ["-c", "model_auto_compact_token_limit=20000"] })
    },
  },
  rollback: {
    of: ["codex"],
    play: (play) => {
      const session = begun(play, PROMPTS.plain)
      resumed(play, session, PROMPTS.plain2)
      const params = { threadId: session }
      driven(play, [
        { ask: "thread/resume", params },
        {
          ...{ ask: "thread/turns/list", params: { ...params, sortDirection: "desc" } },
          save: ["turn", ["result", "data", 0, "id"]],
        },
        { ask: "thread/revert", params: { ...params, beforeTurnId: "$turn" } },
      ])
      resumed(play, session, PROMPTS.forked)
    },
  },
  revert: {
    of: OPENCODES,
    play: (play) => {
      const session = begun(play, PROMPTS.plain)
      resumed(play, session, PROMPTS.plain2)
      driven(play, [
        { ask: `/session/${session}/message`, save: ["message", [2, "info", "id"]] },
        { ask: `/session/${session}/revert`, params: { messageID: "$message" } },
      ])
      resumed(play, session, PROMPTS.forked)
    },
  },
  rewind: {
    of: ["claude"],
    play: (play) => {
      const session = begun(play, PROMPTS.plain)
      const log = play.client.sessions(play.home)[0]?.file ?? ""
      const lines = readFileSync(log, "utf8").split("\n")
      const answer = lines.findLast((line) => line.includes('"type":"assistant"'))
      const { uuid } = JSON.parse(answer ?? "{}") as { uuid?: string }
      resumed(play, session, PROMPTS.plain2)
      resumed(play, session, PROMPTS.forked, { args: ["--resume-session-at", uuid ?? ""] })
    },
  },
  openai: { of: PIS, play: (play) => begun(play, PROMPTS.tools, { provider: "mockoai" }) },
  rpcfork: {
    of: PIS,
    play: (play) => {
      const session = begun(play, PROMPTS.plain)
      resumed(play, session, PROMPTS.plain2)
      const steps: Step[] = [
        { ask: "get_fork_messages", save: ["entry", ["data", "messages", 1, "entryId"]] },
        { ask: "fork", params: { entryId: "$entry" } },
        { ask: "prompt", params: { message: PROMPTS.forked }, until: "agent_end" },
        { ask: "set_session_name", params: { name: "forked 名前" } },
      ]
      told(play, undefined, [
        ...[process.execPath, join(import.meta.dir, "drive.ts"), play.client.name, JSON.stringify(steps)],
        ...["--provider", "mock", "--model", "mock-model", "--session", session],
      ])
    },
  },
}

function playCompaction(play: Play): void {
  const { client } = play
  const session = begun(play, PROMPTS.tools)
  if (client.name === "claude") perform(play, client.resume(session, "/compact", {}))
  else if (client.compact !== undefined) perform(play, client.compact(session))
  else if (client.name === "codex") {
    resumed(play, session, PROMPTS.big)
    const params = { threadId: session }
    driven(play, [
      { ask: "thread/resume", params },
      { ask: "thread/compact/start", params, until: "turn/completed" },
    ])
  } else if (OPENCODES.includes(client.name)) {
    const params = { providerID: "mock", modelID: "mock-model", auto: false }
    driven(play, [{ ask: `/session/${session}/summarize`, params }])
  } else {
    resumed(play, session, PROMPTS.big)
    resumed(play, session, PROMPTS.long)
    driven(play, [{ ask: "compact" }], "--provider", "mock", "--model", "mock-model", "--session", session)
  }
  const before = readFileSync(play.log, "utf8").length
  resumed(play, session, PROMPTS.plain2)
  const asked = readFileSync(play.log, "utf8").slice(before)
  if (!asked.includes(SUMMARY.slice(0, SUMMARY.indexOf(" ")))) throw new Error("the summary was not sent")
}

// --- Played and saved --------------------------------------------------------------------------------------------------

export function scenariosOf(client: Client): string[] {
  return Object.entries(SCENARIOS).flatMap(([name, { of, notOf = [] }]) =>
    (of === undefined || of.includes(client.name)) && !notOf.includes(client.name) ? [name] : [],
  )
}

/** Where the session is saved. What is there already stays. */
export function produce(place: Place, client: Client, scenario: string): string {
  const target = join(sessionsOf(place, client), scenario)
  if (existsSync(join(target, "expected.json"))) return target
  const home = join(place.root, "homes", `${client.name}-${scenario}`)
  const log = join(place.root, "logs", `${client.name}-${scenario}.jsonl`)
  for (const stale of [home, log, target]) rmSync(stale, { recursive: true, force: true })
  for (const folder of [home, dirname(log), target]) mkdirSync(folder, { recursive: true })
  layOutProjects(place)
  client.configure(home, {})
  const play: Play = { client, place, home, log, sessions: new Map() }
  SCENARIOS[scenario]?.play(play)
  for (const kept of client.keeps)
    if (existsSync(join(home, kept)))
      cpSync(join(home, kept), join(target, kept), { recursive: true, preserveTimestamps: true })
  const expected = {
    client: client.name,
    version: client.version,
    scenario,
    sessions: Object.fromEntries(play.sessions),
  }
  writeFileSync(join(target, "expected.json"), JSON.stringify(expected, null, 1))
  rmSync(home, { recursive: true, force: true })
  return target
}

function layOutProjects({ alpha, beta }: Place): void {
  for (const folder of [alpha, beta]) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "README.md"), "# a project デモ\n\nline two\n")
    writeFileSync(join(folder, "main.py"), 'print("hi")\n')
    writeFileSync(join(folder, "pic.png"), picture())
  }
  // opencode knows a repository by its first commit: laid out anew, it is the one that earlier sessions were held in.
  const moment = "2026-01-01T00:00:00Z"
  const who = { GIT_AUTHOR_NAME: "dev", GIT_AUTHOR_EMAIL: "dev@example.invalid", GIT_AUTHOR_DATE: moment }
  const env = {
    ...{ PATH: "/usr/bin:/bin", HOME: "/nonexistent", ...who },
    ...{ GIT_COMMITTER_NAME: who.GIT_AUTHOR_NAME, GIT_COMMITTER_EMAIL: who.GIT_AUTHOR_EMAIL },
    GIT_COMMITTER_DATE: moment,
  }
  for (const words of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    ["commit", "-q", "-m", "init"],
  ]) {
    Bun.spawnSync(["git", ...words], { cwd: beta, env })
  }
}

/** 16 by 16 points of one colour. */
function picture(): Uint8Array {
  const chunk = (type: string, bytes: Uint8Array) => {
    const named = Buffer.concat([Buffer.from(type), bytes])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(bytes.length)
    sum.writeUInt32BE(Bun.hash.crc32(named))
    return Buffer.concat([length, named, sum])
  }
  const header = Buffer.from([0, 0, 0, 16, 0, 0, 0, 16, 8, 2, 0, 0, 0])
  const row = [0, ...Array.from({ length: 16 }, () => [200, 40, 90]).flat()]
  const rows = Buffer.from(Array.from({ length: 16 }, () => row).flat())
  const start = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
  return Buffer.concat([start, chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))])
}
