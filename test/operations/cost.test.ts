/** Tokens and cost: each response once, wherever it is recorded; prices by the table or a file; what is stored later is added. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { JsonValue } from "../../src/model/json.ts"
import type { Entry } from "../../src/model/session.ts"
import { sql } from "../../src/operations/sql/sql.ts"
import { type CostOutput, cost } from "../../src/operations/wire/cost.ts"
import { said, session } from "../sessions/support.ts"
import { memoryPond, type TestPond } from "./support.ts"

let box: TestPond
const at = (day: number) => new Date(Date.UTC(2026, 0, day, 12)).toISOString()
const MODEL = "claude-sonnet-4-5-20250929"

interface Answer {
  readonly id: string
  readonly day: number
  readonly output: number
  readonly model?: string
}

/** A record of an answer of Claude Code: 10 tokens in, 100 from the cache, 20 and 30 into it. */
function answered(sessionId: string, ordinal: number, { id, day, output, model = MODEL }: Answer): Entry {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 50,
    cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
    output_tokens: output,
  }
  const record = { type: "assistant", requestId: "r", message: { id, model, usage } }
  return withRecord(said(sessionId, ordinal, "yes", { role: "assistant", timestamp: at(day) }), record)
}

function withRecord({ message, parts }: Entry, record: JsonValue): Entry {
  return { message: { ...message, options: { source: { record } } }, parts } as Entry
}

const claude = (id: string, fields: object = {}) => session(id, { source_agent: "claude-code", ...fields })

beforeAll(async () => {
  box = memoryPond()
  await box.place.sessions.write([
    {
      session: claude("first", { title: "Count it", project: "/home/someone/shop" }),
      // One answer in three records, as it grew, and one in one.
      entries: [
        answered("first", 0, { id: "a", day: 3, output: 1 }),
        answered("first", 1, { id: "a", day: 3, output: 7 }),
        answered("first", 2, { id: "a", day: 3, output: 7 }),
        answered("first", 3, { id: "b", day: 4, output: 5 }),
      ],
    },
    // A fork repeats both answers and has one of its own.
    {
      session: claude("forked"),
      entries: [
        answered("forked", 0, { id: "a", day: 3, output: 7 }),
        answered("forked", 1, { id: "b", day: 4, output: 5 }),
        answered("forked", 2, { id: "c", day: 5, output: 2 }),
      ],
    },
    {
      session: claude("first/agent", { source_agent: "claude-code/explorer", parent_session_id: "first" }),
      entries: [answered("first/agent", 0, { id: "d", day: 3, output: 3, model: "nobody-knows-it" })],
    },
    {
      session: session("pi-1", { source_agent: "pi", project: "/home/someone/other" }),
      entries: [
        withRecord(said("pi-1", 0, "hi", { role: "assistant", timestamp: at(6) }), {
          id: "e",
          message: {
            role: "assistant",
            model: "m",
            timestamp: 1,
            usage: { input: 4, output: 6, cost: { total: 0.5 } },
          },
        }),
      ],
    },
  ])
})
afterAll(() => box[Symbol.dispose]())

async function ask(input: object = {}): Promise<CostOutput> {
  return (await box.run(cost, input)) as CostOutput
}

const keys = ({ rows }: CostOutput) => rows.map(({ key, responses, output_tokens }) => [key, responses, output_tokens])

/** By the prices of the model: 3, 0.3, 3.75, 6 and 15 dollars for a million tokens. */
const priced = (output: number) => (10 * 3 + 100 * 0.3 + 20 * 3.75 + 30 * 6 + output * 15) / 1e6

test("each response counts once, with the most that was recorded of it", async () => {
  const answer = await ask()
  expect(keys(answer)).toEqual([
    ["m", 1, 6],
    [MODEL, 3, 14],
    ["nobody-knows-it", 1, 3],
  ])
  expect(answer.rows[1]).toMatchObject({
    input_tokens: 30,
    cache_read_tokens: 300,
    cache_write_tokens: 0,
    cache_write_5m_tokens: 60,
    cache_write_1h_tokens: 90,
    total_tokens: 494,
    sessions: 2,
  })
  expect(answer.repeated_records).toBe(4)
})

test("the cost is the client's where it recorded one, else by the prices; a model without a price is named", async () => {
  const answer = await ask()
  expect(answer.total.recorded_cost_usd).toBe(0.5)
  expect(answer.total.priced_cost_usd).toBeCloseTo(priced(7) + priced(5) + priced(2), 8)
  expect(answer.unpriced_models).toEqual([{ model: "nobody-knows-it", responses: 1, total_tokens: 163 }])
  expect(answer.total.unpriced_responses).toBe(1)
  expect(answer.prices.sources.length).toBeGreaterThan(0)
})

test("by day, client, project, session with its sub-agents, and sub-agent", async () => {
  expect(keys(await ask({ by: "day" })).map(([, responses]) => responses)).toEqual([2, 1, 1, 1])
  expect(keys(await ask({ by: "month" }))).toEqual([["2026-01", 5, 23]])
  expect(keys(await ask({ by: "week" })).map(([key]) => key)).toEqual(["2025-12-29", "2026-01-05"])
  expect(keys(await ask({ by: "client" })).map(([key]) => key)).toEqual(["pi", "claude-code"])
  expect(keys(await ask({ by: "subagent" })).toSorted()).toEqual([
    ["(main)", 4, 20],
    ["claude-code/explorer", 1, 3],
  ])
  const bySession = await ask({ by: "session" })
  expect(keys(bySession).toSorted()).toEqual([
    ["first", 3, 15],
    ["forked", 1, 2],
    ["pi-1", 1, 6],
  ])
  expect(bySession.rows.find(({ key }) => key === "first")).toMatchObject({ title: "Count it", short_id: "first" })
})

test("filters leave the responses of a project, a client, a session or some days", async () => {
  const responses = async (filters: object) => (await ask({ filters })).total.responses
  expect(await responses({ project: { contains: "shop" } })).toBe(2)
  expect(await responses({ source_agent: "claude-code" })).toBe(4)
  expect(await responses({ source_agent: "claude-code/explorer" })).toBe(1)
  expect(await responses({ session_id: "first" })).toBe(3)
  expect(await responses({ from_date: "2026-01-04", to_date: "2026-01-05" })).toBe(2)
  await expect(ask({ filters: { from_date: "2026-02-01", to_date: "2026-01-05" } })).rejects.toThrow("swap them")
})

test("a limit keeps the largest, and of days the last; the total stays", async () => {
  const answer = await ask({ by: "day", limit: 1 })
  expect([answer.rows.length, answer.rows_count, answer.total.responses]).toEqual([1, 4, 5])
  expect(answer.rows[0]?.key).toBe("2026-01-06")
})

test("SQL has the same responses, with what each cost and who says so", async () => {
  const query = async (text: string) => ((await box.run(sql, { sql: text })) as { rows: object[] }).rows
  expect(
    await query("select cost_from, count(*) n, sum(output_tokens) o from usage group by 1 order by 1 nulls last"),
  ).toEqual([
    { cost_from: "client", n: 1, o: 6 },
    { cost_from: "prices", n: 3, o: 14 },
    { cost_from: null, n: 1, o: 3 },
  ])
  expect(await query("select count(*) n from usage where model = 'm'")).toEqual([{ n: 1 }])
  expect(await query("select max(cost_usd) most from usage")).toEqual([{ most: 0.5 }])
  const joined = "select m.id from usage u join messages m using (session_id, ordinal) where u.session_id = 'pi-1'"
  expect(await query(joined)).toEqual([{ id: "m0" }])
})

test("what is stored later is added to what is known, and a cache that is damaged is read anew", async () => {
  using place = memoryPond()
  const count = async () => ((await place.run(cost, {})) as CostOutput).total.responses
  const store = (id: string, entries: readonly Entry[]) =>
    place.place.sessions.write([{ session: claude(id), entries }])
  await store("first", [answered("first", 0, { id: "a", day: 3, output: 7 })])
  expect(await count()).toBe(1)
  const folder = join(place.pond.host.path("cache"), "usage")
  const [file = ""] = readdirSync(folder)
  expect(file).toEndWith(".bin")
  await store("late", [
    answered("late", 0, { id: "f", day: 7, output: 9 }),
    answered("late", 1, { id: "a", day: 3, output: 7 }),
  ])
  expect(await count()).toBe(2)
  writeFileSync(join(folder, file), "not what it was")
  expect(await count()).toBe(2)
  rmSync(folder, { recursive: true })
  writeFileSync(folder, "in the way")
  expect(await count()).toBe(2)
})

test("a file of prices replaces the whole table, and says what is wrong with it", async () => {
  const file = join(box.place.path, "prices.json")
  const environment = { ...box.pond.host.environment, POND_PRICES_FILE: file }
  const pond = { ...box.pond, host: { ...box.pond.host, environment, settings: () => settingsWith(file) } }
  const run = async () =>
    (await cost.run({ pond: pond as never, signal: new AbortController().signal }, {})) as CostOutput
  const table = { unit: "US dollars for a million tokens", retrieved: "2026-01-01", sources: ["mine"] }
  writeFileSync(file, JSON.stringify({ ...table, models: { "nobody-knows-it": { input: 1_000_000, output: 0 } } }))
  const { unpriced_models: unpriced, total, prices } = await run()
  // Ten tokens of the prompt, and 150 more that have no separate price.
  expect(total.priced_cost_usd).toBe(160)
  expect(unpriced.map(({ model }) => model)).toEqual([MODEL])
  expect(prices).toEqual({ retrieved: "2026-01-01", sources: ["mine"], file })
  writeFileSync(file, JSON.stringify({ ...table, models: { m: { input: -1, output: 0 } } }))
  await expect(run()).rejects.toThrow("is not a table of prices")
  rmSync(file)
  await expect(run()).rejects.toThrow("it cannot be read as JSON")
})

function settingsWith(file: string) {
  const settings = box.pond.host.settings()
  return { ...settings, values: { ...settings.values, prices: { file } } }
}

test("a response counts where it was given, also where its copy was stored first", async () => {
  using other = memoryPond()
  const copied = answered("fork", 0, { id: "a", day: 3, output: 7 })
  const options = { ...copied.message.options, pond: { replay_of: "origin" } }
  await other.place.sessions.write([
    { session: claude("fork"), entries: [{ ...copied, message: { ...copied.message, options } } as Entry] },
  ])
  await other.place.sessions.write([
    { session: claude("origin"), entries: [answered("origin", 0, { id: "a", day: 4, output: 7 })] },
  ])
  const { rows } = (await other.run(cost, { by: "session" })) as CostOutput
  expect(rows.map(({ key, responses }) => [key, responses])).toEqual([["origin", 1]])
})
