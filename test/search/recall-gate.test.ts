/** The gate of recall, measured: what was decided is told where it is needed, and nothing where it is not. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { proseOf, readConcepts, stemOf, weighByRarity } from "../../src/search/recall/concepts.ts"
import { bestPassage, isDecision } from "../../src/search/recall/passage.ts"
import { findRelevant } from "../../src/search/recall/recall.ts"
import { type MemorySessions, memorySessions, said, session } from "../sessions/support.ts"
import { NEEDED, NOT_NEEDED, TUNED, TUNED_WITHOUT } from "./recall-tasks.ts"

const PROJECT = "/home/dev/work/shop"
const TASKS = [...TUNED, ...NEEDED]

let place: MemorySessions
beforeAll(async () => {
  place = memorySessions()
  const entries = TASKS.flatMap(([decision], at) => [
    said("old", 2 * at, decision, { id: `d${at}` }),
    said("old", 2 * at + 1, "Understood, I will do it that way.", { id: `r${at}`, role: "assistant" }),
  ])
  await place.sessions.write([{ session: session("old", { project: PROJECT }), entries }])
})
afterAll(() => place[Symbol.dispose]())

async function told(prompt: string, near = PROJECT): Promise<string[]> {
  return (await findRelevant(place.sessions, { prompt, near, limit: 3 })).map(({ hit }) => hit.messageId)
}

test("27 of 34 decisions are told to the task that needs them, and two tasks are told another one besides", async () => {
  const found = await Promise.all(TASKS.map(([, task]) => told(task)))
  const right = found.filter((ids, at) => ids.includes(`d${at}`))
  const wrong = found.filter((ids, at) => ids.some((id) => id !== `d${at}`))
  expect({ right: right.length, wrong: wrong.length }).toEqual({ right: 27, wrong: 2 })
})

test("60 tasks that need none of them are told nothing", async () => {
  const loud: string[] = []
  for (const task of [...TUNED_WITHOUT, ...NOT_NEEDED]) if ((await told(task)).length > 0) loud.push(task)
  expect(loud).toEqual([])
})

test("another project is told nothing that its prompt does not share most of", async () => {
  const found = await Promise.all(TASKS.map(([, task]) => told(task, "/home/dev/work/blog")))
  // "Update the Helm chart and the nginx ingress": four telling words in a row.
  expect(found.flat()).toEqual(["d28"])
  // Two repositories below one directory are two projects.
  expect(
    await told("Configure the database connection pool for the reporting worker.", "/home/dev/work/shop-2"),
  ).toEqual([])
  expect(await told("Configure the database connection pool for the reporting worker.", `${PROJECT}/api`)).toEqual([
    "d1",
  ])
})

test("the same request again tells nothing", async () => {
  for (const at of [1, 3, 8]) expect(await told(TASKS[at]?.[0] ?? "")).toEqual([])
})

test("what was pasted into a prompt is not what it is about", () => {
  expect(proseOf("why?\n```\npgbouncer pool\n```\n<log>pool</log>\n[3:04] {a:1,b:[2]} => 0x33")).not.toContain("pool")
  const words = [...readConcepts("look at https://example.com/pgbouncer/pool and src/db/pool/index.ts").words.keys()]
  expect(words).not.toContain("pgboun")
  expect(words).not.toContain("pool")
})

test("forms of a word have one stem, and an acronym of two letters counts", () => {
  for (const [left, right] of [
    ["pools", "pooling"],
    ["price", "prices"],
    ["migration", "migrations"],
    ["jobs", "job"],
  ])
    expect(stemOf(left ?? "")).toBe(stemOf(right ?? ""))
  expect([...readConcepts("Upload it to S3 in CI").words.keys()]).toEqual(["upload", "s3", "ci"])
})

test("a common word tells less, but in a small store nothing is known of that", () => {
  const read = readConcepts("pgbouncer transaction")
  const weightsAt = (messages: number) =>
    [...weighByRarity(read, messages, ([stem]) => (stem === "pgboun" ? 1 : messages / 4)).words.values()].map(
      ({ weight }) => Number(weight.toFixed(2)),
    )
  expect(weightsAt(50)).toEqual([1, 1])
  expect(weightsAt(100_000)).toEqual([1, 0.26])
})

test("a passage is the sentences where the words stand together, with what follows them", () => {
  const text =
    "Pools are round. Nothing else.\nWe keep the connection pool at ten. More hangs the replica. And so on. The end."
  const passage = bestPassage(text, readConcepts("Raise the connection pool size"))
  expect(passage?.text).toBe("We keep the connection pool at ten. More hangs the replica. And so on.")
  expect(passage?.isDecision).toBe(true)
  expect(passage?.shared).toContain("connec pool")
})

test.each([
  ["We decided to use ULIDs.", true],
  ["Never edit a migration.", true],
  ["Use pino for logging.", true],
  ["It turned out that the clock was fake.", true],
  ["Add a button.", false],
  ["The tests pass.", false],
])("%s", (text, expected) => expect(isDecision(text)).toBe(expected))

test("a text of a megabyte is judged in time", () => {
  const began = performance.now()
  bestPassage("connection pool. ".repeat(60_000), readConcepts("Raise the connection pool size"))
  bestPassage("a-".repeat(500_000), readConcepts("Raise the connection pool size"))
  readConcepts("/a".repeat(500_000))
  readConcepts("<x>".repeat(300_000))
  expect(performance.now() - began).toBeLessThan(5_000)
})
