/** What a segment says of a filter is what the table says of it: whoever passes there passes here, and nobody else. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { seededRandom } from "../../../src/platform/host/random.ts"
import { WORD_BLOCKS, WORD_SEGMENTS } from "../../../src/sessions/tables.ts"
import { attributesOf, evaluateFilter, simplifyFilter } from "../../../src/sessions/words/query/document-filter.ts"
import {
  ATTRIBUTES,
  addAttribute,
  type Documents,
  documentBytes,
  joinDocuments,
  readDocuments,
} from "../../../src/sessions/words/segment/documents.ts"
import { createSnapshots } from "../../../src/sessions/words/snapshot.ts"
import {
  and,
  contains,
  eq,
  type Filter,
  isIn,
  isNull,
  matches,
  not,
  or,
  range,
  startsWith,
  stored,
} from "../../../src/substrate/filter.ts"
import { type MemorySessions, memorySessions, said, session } from "../support.ts"

const SESSIONS = 12
const PER_SESSION = 18
const PROJECTS = ["/home/a/Work", "/home/a/work", "/home/b", "/Ärger", "/home/a/working"]
const AGENTS = ["claude-code", "claude-code/explore", "codex"]
const at = (number: number) => Date.UTC(2026, 0, 1) + (number % 7) * 60_000

let place: MemorySessions
beforeAll(async () => {
  place = memorySessions()
  await place.sessions.write(
    Array.from({ length: SESSIONS }, (_, number) => ({
      session: session(`s${number}`, {
        project: PROJECTS[number % PROJECTS.length] ?? "",
        source_agent: AGENTS[number % AGENTS.length] ?? "",
      }),
      entries: Array.from({ length: PER_SESSION }, (_each, nth) =>
        said(`s${number}`, nth, `word ${number} ${nth}`, {
          role: (number + nth) % 3 === 0 ? "assistant" : "user",
          timestamp: new Date(at(number * 5 + nth)).toISOString(),
        }),
      ),
    })),
  )
})
afterAll(() => place[Symbol.dispose]())

const random = seededRandom(23)
const pick = <Value>(from: readonly Value[]): Value => from[Math.floor(random.next() * from.length)] as Value
const micros = () => BigInt(at(Math.floor(random.next() * 9))) * 1_000n + pick([0n, 0n, 1n, -1n])
const ordinal = () => Math.floor(random.next() * 11) - 1
const ends = () => ({ fromExclusive: random.next() < 0.5, toExclusive: random.next() < 0.5 })
const bounds = <Value extends number | bigint | string>(value: () => Value) =>
  pick([() => ({ from: value() }), () => ({ to: value() }), () => ({ from: value(), to: value() })])()

const LEAVES: readonly (() => Filter)[] = [
  () => eq("project", pick(PROJECTS)),
  () => isIn("role", pick([["user"], ["assistant"], ["user", "assistant"], ["nobody"], []])),
  () => isIn("source_agent", [pick(AGENTS), "nobody"]),
  () => startsWith("source_agent", pick(["claude-code", "claude-code/", "ode"])),
  () => contains("project", pick(["work", "WORK", "/", "ÄRGER", "nowhere"]), random.next() < 0.5),
  () => range("session_id", { ...bounds(() => `s${Math.floor(random.next() * 12)}`), ...ends() }),
  () => eq("ordinal", ordinal()),
  () => isIn("ordinal", [ordinal(), ordinal(), ordinal()]),
  () => range("ordinal", { ...bounds(ordinal), ...ends() }),
  () => eq("timestamp", micros()),
  () => isIn("timestamp", [micros(), micros()]),
  () => range("timestamp", { ...bounds(micros), ...ends() }),
  // Further than a double counts by ones.
  () => range("timestamp", pick([{ to: -(2n ** 60n) }, { from: -(2n ** 60n) }])),
  () => isNull("role"),
  () => isNull("ordinal"),
  () => stored(Math.floor(random.next() * 240)),
  () => stored(Math.floor(random.next() * 120), Math.floor(random.next() * 240)),
]

function anyFilter(depth: number): Filter {
  if (depth === 0 || random.next() < 0.4) return pick(LEAVES)()
  const inner = () => Array.from({ length: Math.floor(random.next() * 4) }, () => anyFilter(depth - 1))
  return pick([() => and(...inner()), () => or(...inner()), () => not(anyFilter(depth - 1))])()
}

/** As who reads it from the store has it: its facets are added one by one. */
function readBack(documents: Documents): Documents {
  const bytes = documentBytes(documents)
  const back = readDocuments(bytes.lengths, documents)
  for (const name of ATTRIBUTES) addAttribute(back, name, bytes[name])
  return back
}

test("whatever a filter asks of what a segment knows, the same messages pass as in the table", async () => {
  const { store, tables } = place.sessions
  const words = { segments: store.table(WORD_SEGMENTS), blocks: store.table(WORD_BLOCKS) }
  const { tail } = await createSnapshots({ messages: tables.messages, ...words }, 72).current()
  const joined = readBack(joinDocuments(tail.map(({ documents }) => documents)))
  expect(tail.map(({ from }) => from)).toEqual([0, 72, 144])
  let someOfThem = 0
  for (let round = 0; round < 160; round++) {
    const filter = anyFilter(3)
    const wanted: number[] = []
    for await (const { numbers } of tables.messages.scanByNumber({ from: 0, columns: [], where: filter }))
      wanted.push(...numbers)
    wanted.sort((left, right) => left - right)
    const asked = JSON.stringify(filter, (_, value) => (typeof value === "bigint" ? `${value}n` : value))
    const byPart = tail.flatMap(({ from, documents }) => numbersOf(evaluateFilter(documents, filter, from), from))
    expect(byPart, asked).toEqual(wanted)
    expect(numbersOf(evaluateFilter(joined, filter, 0), 0), asked).toEqual(wanted)
    const leftByPart = tail.flatMap(({ from, documents }) => {
      const left = simplifyFilter(filter, from, from + documents.size) ?? and()
      return numbersOf(evaluateFilter(documents, left, from), from)
    })
    expect(leftByPart, asked).toEqual(wanted)
    if (wanted.length > 0 && wanted.length < SESSIONS * PER_SESSION) someOfThem += 1
  }
  expect(someOfThem).toBeGreaterThan(50)
})

function numbersOf(mask: Uint8Array | undefined, from: number): number[] {
  return [...(mask ?? [])].flatMap((passes, number) => (passes === 1 ? [from + number] : []))
}

test("rows that were all stored when a filter wants them to be are not asked for it", () => {
  const role = eq("role", "user")
  expect(simplifyFilter(and(and(role), stored(0, 20)), 5, 20)).toEqual(and(and(role)))
  expect(simplifyFilter(and(stored(5), stored(0, 20)), 5, 20)).toBeUndefined()
  for (const other of [stored(0, 19), stored(6, 20), not(stored(0, 20)), or(role, stored(0, 20))])
    expect(simplifyFilter(and(role, other), 5, 20)).toEqual(and(role, other))
})

test("what a segment does not know it does not decide, wherever in a filter it is asked", async () => {
  const { store, tables } = place.sessions
  const words = { segments: store.table(WORD_SEGMENTS), blocks: store.table(WORD_BLOCKS) }
  const [part] = (await createSnapshots({ messages: tables.messages, ...words }).current()).tail
  const known = eq("role", "user")
  for (const unknown of [eq("id", "m1"), matches("project", "a"), isNull("content"), range("host", { from: "a" })]) {
    const all = [unknown, not(unknown), and(known, unknown), or(known, unknown), or(and(), not(and(known, unknown)))]
    for (const filter of all) expect(part && evaluateFilter(part.documents, filter, 0), filter.op).toBeUndefined()
  }
  expect(part && evaluateFilter(part.documents, known, 0)).toBeDefined()
  expect(attributesOf(and(known, not(or(range("timestamp", { from: 0n }), eq("id", "x")))))).toEqual([
    "role",
    "timestamp",
  ])
})
