/** A log that does not say yet where its session is: what it would be called by then, it would be called for good. */
import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { codex } from "../../src/adapters/codex/adapter.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { surveySources } from "../../src/sync/plan/survey.ts"
import { SESSION, type SyncPlace, syncPlace, userLine } from "./support.ts"

const after = (ms: number) => ({ clock: { ...systemClock, nowMs: () => systemClock.nowMs() + ms } })
const line = (number: number, text: string) => userLine(SESSION, number, text)
const WORK = "/home/someone/work"
const [MINUTES, DAYS] = [120_000, 2 * 86_400_000]

async function projects({ sessions }: SyncPlace): Promise<string[]> {
  return (await sessions.tables.sessions.read({ columns: ["project"] })).map(({ project }) => project)
}

const SNAPSHOT = JSON.stringify({
  type: "file-history-snapshot",
  messageId: "a",
  snapshot: { messageId: "a", trackedFileBackups: {}, timestamp: "2026-01-01T00:00:00.000Z" },
  isSnapshotUpdate: false,
})

test("a client that was opened and left waiting is stored with its first prompt, under the directory that it names", async () => {
  using place = syncPlace()
  place.write(SESSION, [SNAPSHOT], { isFresh: true })
  expect(await place.sync({}, after(MINUTES))).toMatchObject({ messages: { new: 0 }, issues: [] })
  place.append(SESSION, `${line(1, "one")}\n`)
  expect(await place.sync({}, after(MINUTES))).toMatchObject({ messages: { new: 2 }, issues: [] })
  expect(await projects(place)).toEqual([WORK])
  expect(await place.sync({ isFull: true })).toMatchObject({
    sessions: { failed: 0 },
    messages: { new: 0 },
    issues: [],
  })
})

test("one that never gets a prompt is stored when nobody will give it one any more, and then there is nothing to do", async () => {
  using place = syncPlace()
  place.write(SESSION, [SNAPSHOT], { isFresh: true })
  expect(await place.sync({}, after(MINUTES))).toMatchObject({ messages: { new: 0 } })
  expect(await place.sync({}, after(DAYS))).toMatchObject({ messages: { new: 1 }, issues: [] })
  expect(await place.sync({}, after(DAYS))).toMatchObject({ bytes_read: 0 })
})

test("until then nothing of it waits for a sync, and that is said", async () => {
  using place = syncPlace()
  place.write(SESSION, [SNAPSHOT], { isFresh: true })
  const sources = [{ adapter: claudeCode, root: place.root }]
  const waiting = async (ms: number) => {
    const [source] = await surveySources(sources, { ...place.context, ...after(ms) })
    return source && { ...source.pending, bytes: source.bytes_to_read > 0 }
  }
  const nothing = { new: 0, grown: 0, rewritten: 0, gone: 0, nameless: 0, bytes: false }
  expect(await waiting(MINUTES)).toEqual({ ...nothing, new: 1, bytes: true })
  await place.sync({}, after(MINUTES))
  expect(await waiting(MINUTES)).toEqual({ ...nothing, nameless: 1 })
  expect(await waiting(DAYS)).toEqual({ ...nothing, rewritten: 1, bytes: true })
  place.append(SESSION, `${line(1, "one")}\n`)
  expect(await waiting(MINUTES)).toEqual({ ...nothing, rewritten: 1, bytes: true })
})

/** As builds before stored every such session, and as one is stored that got its first prompt days later. */
async function stored(place: SyncPlace): Promise<void> {
  place.write(SESSION, [SNAPSHOT])
  await place.sync({}, after(DAYS))
  expect(await projects(place)).toEqual(["-home-someone-work"])
}

test("one that was stored under the name of its folder is read anew, and what it lacks is stored under that name", async () => {
  using place = syncPlace()
  await stored(place)
  place.append(SESSION, `${line(1, "one")}\n`)
  const whole = { sessions: { failed: 0 }, issues: [] }
  expect(await place.sync({ isFull: true }, after(DAYS))).toMatchObject({ ...whole, messages: { new: 1 } })
  expect(await place.sync({ isFull: true }, after(DAYS))).toMatchObject({ ...whole, messages: { new: 0 } })
  place.append(SESSION, `${line(2, "two")}\n`)
  expect(await place.sync({}, after(DAYS))).toMatchObject({ ...whole, messages: { new: 1 } })
  expect(await projects(place)).toEqual(["-home-someone-work"])
  const { messages, parts } = place.sessions.tables
  const rows = [...(await messages.read({ columns: ["project"] })), ...(await parts.read({ columns: ["project"] }))]
  expect(rows).toEqual(Array.from({ length: 5 }, () => ({ project: "-home-someone-work" })))
})

test("a session of that id that lies elsewhere is another one, and is refused as before", async () => {
  using place = syncPlace()
  await stored(place)
  const [source] = place.request.sources
  if (source === undefined) throw new Error("the place has a source")
  const other = { ...source, root: `${source.root}-elsewhere` }
  mkdirSync(join(other.root, "projects/-home-else"), { recursive: true })
  writeFileSync(join(other.root, `projects/-home-else/${SESSION}.jsonl`), `${line(1, "one")}\n`)
  expect(await place.sync({ sources: [other] }, after(DAYS))).toMatchObject({
    sessions: { failed: 1 },
    issues: [{ kind: "session_rejected" }],
  })
})

test.each([
  ["claude-code", {}, `projects/-home-someone-work/${SESSION}.jsonl`, [line(1, "one"), line(2, "two")]],
  [
    "codex",
    { adapter: codex },
    `sessions/2026/01/01/rollout-2026-01-01T00-00-00-${SESSION}.jsonl`,
    [
      `{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"${SESSION}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"${WORK}","originator":"codex_cli_rs","cli_version":"0.80.0"}}`,
      `{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}`,
    ],
  ],
])(
  "half of the first line of %s, left there for minutes, keeps nothing of the rest away",
  async (_, of, name, lines) => {
    using place = syncPlace()
    const [source] = place.request.sources
    if (source === undefined) throw new Error("the place has a source")
    const sources = [{ ...source, ...of }]
    const path = join(source.root, name)
    mkdirSync(dirname(path), { recursive: true })
    const text = lines.map((each) => `${each}\n`).join("")
    writeFileSync(path, text.slice(0, 60))
    await place.sync({ sources }, after(MINUTES))
    expect(await projects(place)).toEqual([])
    writeFileSync(path, text)
    expect(await place.sync({ sources }, after(MINUTES))).toMatchObject({
      sessions: { failed: 0 },
      messages: { new: 2 },
    })
    expect(await projects(place)).toEqual([WORK])
  },
)
