/**
 * What adapters read of tokens and money, judged by what the clients themselves say: the sum of a Codex thread, the columns
 * of opencode's session, the metrics at the end of a Copilot session, in the files that those clients wrote.
 */
import { expect, test } from "bun:test"
import type { Adapter, RawRecord } from "../../src/adapters/adapter.ts"
import { adapterById } from "../../src/adapters/registry.ts"
import type { ResponseUsage, UsageMemory } from "../../src/adapters/usage-reading.ts"
import type { JsonValue } from "../../src/model/json.ts"
import type { Entry } from "../../src/model/session.ts"
import { fixturesOf, parseUnit, unitsOf } from "../contract/fixtures.ts"

interface ReadSession {
  readonly id: string
  readonly records: readonly RawRecord[]
  readonly usage: readonly ResponseUsage[]
}

async function sessionsOf(id: string, name: string): Promise<ReadSession[]> {
  const adapter = adapterById(id) as Adapter
  const fixture = fixturesOf(adapter).find((each) => each.name === name)
  if (fixture === undefined) throw new Error(`${id} has no fixture ${name}`)
  const units = await unitsOf(adapter, fixture.root)
  return units.map(({ unit, records }) => {
    const { session, entries } = parseUnit(adapter, unit, records, { isSettled: true })
    return { id: session?.id ?? "", records, usage: readUsage(adapter, session?.id ?? "", entries) }
  })
}

function readUsage({ usage }: Adapter, sessionId: string, entries: readonly Entry[]): readonly ResponseUsage[] {
  const memory = {}
  return entries.flatMap(({ message }) => {
    const options = JSON.parse(JSON.stringify(message.options)) as {
      source?: { record?: JsonValue }
      pond?: { replay_of?: string }
    }
    const record = options.source?.record
    const isRead = record !== undefined && usage?.marks.some((mark) => JSON.stringify(record).includes(mark)) === true
    return isRead ? usage.read({ record, sessionId: options.pond?.replay_of ?? sessionId }, memory) : []
  })
}

function sumOf(usages: readonly ResponseUsage[]) {
  const last = new Map<string, ResponseUsage>()
  for (const usage of usages) if (usage.output >= (last.get(usage.key)?.output ?? 0)) last.set(usage.key, usage)
  const all = [...last.values()]
  const add = (of: (usage: ResponseUsage) => number) => all.reduce((sum, usage) => sum + of(usage), 0)
  return {
    responses: all.length,
    prompt: add((usage) => usage.input + usage.cacheRead + usage.cacheWrite + usage.cacheWrite5m + usage.cacheWrite1h),
    cacheRead: add(({ cacheRead }) => cacheRead),
    output: add(({ output }) => output),
    reasoning: add(({ reasoning }) => reasoning),
    cost: add(({ costUsd }) => costUsd ?? 0),
  }
}

const linesOf = (records: readonly RawRecord[]) =>
  records.flatMap((raw) => (raw.form === "log" ? [JSON.parse(raw.text) as Record<string, never>] : []))

test.each(["tools", "agents", "forked", "long"])(
  "codex %s: as the thread's own sum has it, forks counted once",
  async (name) => {
    const sessions = await sessionsOf("codex", name)
    const all = sumOf(sessions.flatMap(({ usage }) => usage))
    const own = sessions.map(({ records }) => linesOf(records).flatMap(totalIn).at(-1))
    const counted = sessions.map(({ usage }) => sumOf(usage))
    expect(counted.length).toBeGreaterThan(0)
    // A fork's sum goes on from its parent's, and so has more than its own.
    const sums = own.flatMap((total) => total ?? [])
    const most =
      name === "forked" ? [sums.toSorted((left, right) => right.output_tokens - left.output_tokens)[0]] : sums
    expect({ prompt: all.prompt, output: all.output, reasoning: all.reasoning, cacheRead: all.cacheRead }).toEqual({
      prompt: most.reduce((sum, total) => sum + (total?.input_tokens ?? 0), 0),
      output: most.reduce((sum, total) => sum + (total?.output_tokens ?? 0), 0),
      reasoning: most.reduce((sum, total) => sum + (total?.reasoning_output_tokens ?? 0), 0),
      cacheRead: most.reduce((sum, total) => sum + (total?.cached_input_tokens ?? 0), 0),
    })
  },
)

test("codex: a count that comes again is one response, also in a copy; without the last one the sum tells", () => {
  const usage = adapterById("codex")?.usage
  const counts = (input: number, output: number) => ({ input_tokens: input, output_tokens: output })
  const count = (info: JsonValue) => ({ type: "event_msg", payload: { type: "token_count", info } })
  const first = count({ total_token_usage: counts(10, 2), last_token_usage: counts(10, 2) })
  const second = count({ total_token_usage: counts(30, 5) })
  const turn = { type: "turn_context", payload: { model: "gpt-5" } }
  const memory = {}
  const read = (records: readonly JsonValue[], of: UsageMemory, sessionId: string) =>
    records.flatMap((record) => usage?.read({ record, sessionId }, of) ?? [])
  const parent = read([turn, first, first, second, second], memory, "parent")
  expect(parent.map(({ model }) => model)).toEqual(Array(parent.length).fill("gpt-5"))
  expect(sumOf(parent)).toMatchObject({ responses: 2, prompt: 30, output: 5 })
  // A fork's copies are of the parent; what it says itself goes on from there.
  const own = read([count({ total_token_usage: counts(40, 9), last_token_usage: counts(10, 4) })], {}, "fork")
  const copied = read([turn, first, second], {}, "parent")
  expect(sumOf([...parent, ...copied, ...own])).toMatchObject({ responses: 3, prompt: 40, output: 9 })
})

interface Total {
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly reasoning_output_tokens: number
}

function totalIn(line: { readonly payload?: { readonly info?: { readonly total_token_usage?: Total } } }): Total[] {
  const total = line.payload?.info?.total_token_usage
  return total === undefined ? [] : [total]
}

test.each(["tools", "resumed", "agent"])("copilot-cli %s: as the end of the session says", async (name) => {
  for (const { records, usage } of await sessionsOf("copilot-cli", name)) {
    const ends = linesOf(records).filter((line) => line["type"] === "session.shutdown")
    const metrics = (ends.at(-1) as unknown as { data: { modelMetrics: Record<string, Metrics> } }).data.modelMetrics
    const { responses, prompt, cacheRead, output, reasoning } = sumOf(usage)
    const own = Object.values(metrics)
    const add = (of: (metrics: Metrics) => number) => own.reduce((sum, each) => sum + of(each), 0)
    expect({ responses, prompt, cacheRead, output, reasoning }).toEqual({
      responses: add(({ requests }) => requests.count),
      prompt: add(({ usage: counted }) => counted.inputTokens),
      cacheRead: add(({ usage: counted }) => counted.cacheReadTokens),
      output: add(({ usage: counted }) => counted.outputTokens),
      reasoning: add(({ usage: counted }) => counted.reasoningTokens),
    })
  }
})

interface Metrics {
  readonly requests: { readonly count: number }
  readonly usage: Readonly<Record<"inputTokens" | "outputTokens" | "cacheReadTokens" | "reasoningTokens", number>>
}

test("copilot-cli: an end without records of calls counts its sums, a later end the sums so far", () => {
  const usage = adapterById("copilot-cli")?.usage
  const end = (outputTokens: number) => ({
    type: "session.shutdown",
    data: { modelMetrics: { "gpt-4.1": { usage: { inputTokens: 1000, outputTokens, cacheReadTokens: 800 } } } },
  })
  const read = [end(50), end(70)].flatMap((record) => usage?.read({ record, sessionId: "s" }, {}) ?? [])
  expect(sumOf(read)).toEqual({ responses: 1, prompt: 1000, cacheRead: 800, output: 70, reasoning: 0, cost: 0 })
})

test.each(["tools", "fork", "subagent"])("opencode %s: as the rows of its sessions say", async (name) => {
  const sessions = await sessionsOf("opencode", name)
  const rows = sessions.flatMap(({ records }) =>
    records.flatMap((raw) => (raw.form === "row" && raw.table === "session" ? [raw.row as unknown as SessionRow] : [])),
  )
  expect(rows.length).toBe(sessions.length)
  // The row of a fork has what it copied.
  const counted = name === "fork" ? [rows.toSorted((left, right) => right.tokens_output - left.tokens_output)[0]] : rows
  const add = (of: (row: SessionRow) => number) =>
    counted.reduce((sum, row) => sum + (row === undefined ? 0 : of(row)), 0)
  const all = sumOf(sessions.flatMap(({ usage }) => usage))
  expect(all.prompt).toBe(add((row) => row.tokens_input + row.tokens_cache_read + row.tokens_cache_write))
  expect(all.output).toBe(add((row) => row.tokens_output + row.tokens_reasoning))
  expect(all.cost).toBeCloseTo(
    add(({ cost }) => cost),
    9,
  )
})

interface SessionRow {
  readonly cost: number
  readonly tokens_input: number
  readonly tokens_output: number
  readonly tokens_reasoning: number
  readonly tokens_cache_read: number
  readonly tokens_cache_write: number
}

/** One script of seven steps, played to each client: the model said to each of them that it wrote the same. */
test.each([
  ["claude-code", 576],
  ["codex", 576],
  ["opencode", 576],
  ["pi", 576],
  ["gemini-cli", 620],
  ["qwen-code", 576],
  ["copilot-cli", 576],
] as const)("%s: seven responses to the script of seven steps", async (id, output) => {
  const sum = sumOf((await sessionsOf(id, "tools")).flatMap(({ usage }) => usage))
  expect({ responses: sum.responses, output: sum.output }).toEqual({ responses: 7, output })
})

test.each([["claude-code"], ["codex"], ["opencode"], ["pi"], ["gemini-cli"], ["qwen-code"], ["copilot-cli"]])(
  "%s: no record makes it throw, and no number that is none counts",
  (id) => {
    const usage = adapterById(id)?.usage
    const odd = [-1, 1.5, 1e300, "12", null, [], {}, Number.MAX_SAFE_INTEGER]
    for (const value of odd) {
      const counts = Object.fromEntries(
        ["input", "output", "input_tokens", "output_tokens", "cost"].map((key) => [key, value]),
      )
      const records: readonly JsonValue[] = [
        null,
        [],
        "usage",
        { type: "assistant", uuid: "u", requestId: 7, message: { role: "assistant", id: "m", usage: counts } },
        {
          type: "event_msg",
          payload: { type: "token_count", info: { last_token_usage: counts, total_token_usage: counts } },
        },
        { type: "turn_context", payload: { model: value } },
        { role: "assistant", time: { created: 1 }, tokens: counts, cost: value },
        { type: "session.shutdown", data: { modelMetrics: { m: { usage: counts } } } },
        { type: "session.usage_record", data: { usage: value } },
        { type: "gemini", id: "g", tokens: counts, usageMetadata: counts },
      ] as readonly JsonValue[]
      const read = records.flatMap((record) => usage?.read({ record, sessionId: "s" }, {}) ?? [])
      for (const { input, output, costUsd } of read)
        expect([input, output, costUsd ?? 0]).toEqual([0, 0, expect.any(Number)])
    }
  },
)

test("products that open nothing say what responses took, as far as they record it", async () => {
  const read = async (id: string, record: JsonValue) =>
    readUsage(adapterById(id) as Adapter, "s", [{ message: { options: { source: { record } } } } as unknown as Entry])
  const [cursor] = await read("cursor", {
    key: "bubbleId:a:b",
    value: { bubbleId: "b", modelInfo: { modelName: "gpt-5" }, tokenCount: { inputTokens: 900, outputTokens: 40 } },
  })
  expect(cursor).toMatchObject({ key: "s b", model: "gpt-5", input: 900, output: 40 })
  const counts = { input_tokens: 5, output_tokens: 6, cache_creation_input_tokens: 7, cache_read_input_tokens: 8 }
  const thread = { model: { provider: "anthropic", model: "claude-sonnet-5" }, request_token_usage: { u1: counts } }
  expect(await read("zed", { row: {}, thread, messages: [] })).toMatchObject([
    { key: "s u1", model: "claude-sonnet-5", input: 5, output: 6, cacheWrite: 7, cacheRead: 8 },
  ])
  expect(await read("crush", { session: { prompt_tokens: 5, cost: 0.25 } })).toMatchObject([
    { input: 0, costUsd: 0.25 },
  ])
  const usage = { input_tokens: 5, output_tokens: 6, cache_read_tokens: 7, cache_creation_tokens: 8 }
  const answer = { role: "assistant", timestamp: "t", metadata: { model: "m", cost: 0.5, usage } }
  expect(await read("gptme", answer)).toMatchObject([
    { key: "s t", model: "m", input: 5, output: 6, cacheRead: 7, cacheWrite: 8, costUsd: 0.5 },
  ])
  const metrics = { prompt_tokens: 90, completion_tokens: 4, cached_tokens: 80, cost_usd: 0.1 }
  expect(await read("atif", { step_id: 3, source: "agent", model_name: "m", metrics })).toMatchObject([
    { key: "s 3", model: "m", input: 10, output: 4, cacheRead: 80, costUsd: 0.1 },
  ])
  // What was not measured is no response.
  expect(await read("cursor", { value: { bubbleId: "b", tokenCount: { inputTokens: 0, outputTokens: 0 } } })).toEqual(
    [],
  )
})
