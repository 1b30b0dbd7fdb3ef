/** Sessions as trajectories of ATIF, as spans of OpenTelemetry and as traces of the Hugging Face Hub. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Adapter } from "../../../src/adapters/adapter.ts"
import { atif } from "../../../src/adapters/atif/adapter.ts"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import { gptme } from "../../../src/adapters/gptme/adapter.ts"
import type { SessionLog } from "../../../src/model/session.ts"
import { shareTraces, type TraceFormat } from "../../../src/operations/share/traces/share-trace.ts"
import { told } from "../../adapters/told.ts"
import { fixturesOf, logsOf } from "../../contract/fixtures.ts"
import { memoryPond, type TestPond } from "../support.ts"

const { signal } = new AbortController()
const folder = mkdtempSync(join(tmpdir(), "pond-traces-"))
let place: TestPond
const logs = new Map<string, SessionLog[]>()

async function store(adapter: Adapter, name: string): Promise<void> {
  const fixture = fixturesOf(adapter).find((each) => each.name === name)
  const found = [...(await logsOf(adapter, fixture?.root ?? "")).values()]
  logs.set(`${adapter.id}/${name}`, found)
  await place.place.sessions.write(found)
}

beforeAll(async () => {
  place = memoryPond()
  await store(claudeCode, "agent")
  await store(claudeCode, "image")
  await store(gptme, "tools")
})
afterAll(() => {
  place[Symbol.dispose]()
  rmSync(folder, { recursive: true })
})

function idOf(fixture: string): string {
  const found = logs.get(fixture)?.find(({ session }) => session.parent_session_id === undefined)
  return found?.session.id ?? ""
}

async function written(fixture: string, format: TraceFormat, isRedacted = false): Promise<string> {
  const share = shareTraces(place.pond, { format, isRedacted }, signal)
  return (await Array.fromAsync(share.file(idOf(fixture)))).join("")
}

interface Step {
  readonly source: string
  readonly message: unknown
  readonly tool_calls?: readonly { readonly tool_call_id: string; readonly arguments: unknown }[]
  readonly observation?: { readonly results: readonly { readonly source_call_id: string }[] }
  readonly metrics?: { readonly prompt_tokens: number; readonly completion_tokens: number }
}

interface Trajectory {
  readonly trajectory_id: string
  readonly steps: readonly Step[]
  readonly subagent_trajectories?: readonly Trajectory[]
}

test("a trajectory says what the session did: a step for each response, agents inside, named by the results of their calls", async () => {
  const text = await written("claude-code/agent", "atif")
  const trajectory = JSON.parse(text) as Trajectory
  expect(trajectory.steps.map(({ source }) => source)).toContain("user")
  expect(trajectory.steps[0]?.source).toBe("user")
  const [agent] = trajectory.subagent_trajectories ?? []
  expect(text).toContain(`"subagent_trajectory_ref":[{"trajectory_id":"${agent?.trajectory_id}"}]`)
  for (const { tool_calls: calls = [], observation, source } of [...trajectory.steps, ...(agent?.steps ?? [])]) {
    expect(calls.length === 0 || source === "agent").toBe(true)
    const ids = calls.map((call) => call.tool_call_id)
    for (const { source_call_id: id } of observation?.results ?? []) expect(ids).toContain(id)
    for (const call of calls) expect(call.arguments).toBeObject()
  }
})

test("tokens stand at the step whose response took them, and are counted once", async () => {
  const { steps } = JSON.parse(await written("claude-code/agent", "atif")) as Trajectory
  const taken = steps.flatMap(({ metrics }) => (metrics === undefined ? [] : [metrics]))
  expect(taken.length).toBe(steps.filter(({ source }) => source === "agent").length)
  expect(taken.every(({ prompt_tokens: prompt }) => prompt > 0)).toBe(true)
})

test("pictures go along: what was written is read again as the same conversation", async () => {
  const path = join(folder, "image.atif.json")
  writeFileSync(path, await written("claude-code/image", "atif"))
  const [read] = [...(await logsOf(atif, path)).values()]
  const conversation = read === undefined ? [] : atif.context(read, [])
  const [was = []] = await told(claudeCode, "image")
  expect(conversation.flatMap(({ parts }) => parts.filter(({ type }) => type === "file")).length).toBe(
    was.filter((line) => line.includes("shows ")).length,
  )
  expect(JSON.stringify(conversation)).toContain("data:image/png;base64,")
})

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[]
}

test("spans hang on one another as agents, responses and tools do; each says what it was by the conventions", async () => {
  const { resourceSpans } = JSON.parse(await written("claude-code/agent", "otlp")) as {
    readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
  }
  const spans = resourceSpans[0]?.scopeSpans[0]?.spans ?? []
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  expect(byId.size).toBe(spans.length)
  expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name)).toEqual([
    "invoke_agent claude-code",
  ])
  const agent = spans.find(({ name }) => name.startsWith("invoke_agent claude-code/"))
  expect(byId.get(agent?.parentSpanId ?? "")?.name).toStartWith("execute_tool ")
  for (const span of spans) {
    expect(span.traceId).toMatch(/^[\da-f]{32}$/)
    expect(span.spanId).toMatch(/^[\da-f]{16}$/)
    expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true)
    const operation = span.attributes.find(({ key }) => key === "gen_ai.operation.name")?.value.stringValue ?? "none"
    expect(span.name).toStartWith(operation)
  }
})

test("the Hub gets the log of a client that it reads as it is, and every other session in its own simple format", async () => {
  const native = (await written("claude-code/agent", "traces")).trim().split("\n")
  expect(native.length).toBe(
    logs.get("claude-code/agent")?.find(({ session }) => session.id === idOf("claude-code/agent"))?.entries.length ?? 0,
  )
  const [header, ...messages] = (await written("gptme/tools", "traces"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(header).toMatchObject({ type: "session", harness: "gptme", id: idOf("gptme/tools") })
  expect(messages.map(({ type, message }) => `${type} ${message.role}`)).toContain("message assistant")
  expect(messages.every(({ message }) => typeof message.content === "string")).toBe(true)
})

test("several sessions are a dataset: its card, a file for each session and each agent", async () => {
  const share = shareTraces(place.pond, { format: "traces", isRedacted: false }, signal)
  const names: string[] = []
  for await (const { name, chunks } of share.files([idOf("claude-code/agent"), idOf("gptme/tools")])) {
    names.push(name)
    const text = (await Array.fromAsync(chunks)).join("")
    expect(text.length).toBeGreaterThan(0)
    if (name === "README.md") expect(text).toStartWith("---\ntags:\n- agent-traces\n")
  }
  expect(names).toContain(`sessions/claude_code/${idOf("claude-code/agent")}.jsonl`)
  expect(names).toContain("sessions/gptme/2026-06-13-write-hello.jsonl")
  expect(names.filter((name) => name.startsWith("sessions/claude_code/")).length).toBe(
    logs.get("claude-code/agent")?.length ?? 0,
  )
})

test("a credential is replaced in every format", async () => {
  const key = `sk-${"ant"}-api03-${"x1".repeat(20)}`
  const log = logs.get("gptme/tools")?.[0]
  if (log === undefined) throw new Error("no log")
  const id = "2026-06-14-key"
  const entries = log.entries.map(({ message, parts }) => ({
    message: { ...message, session_id: id },
    parts: parts.map((part) => ({ ...part, session_id: id, ...("text" in part ? { text: `my ${key}` } : {}) })),
  }))
  await place.place.sessions.write([{ session: { ...log.session, id }, entries: entries as never }])
  for (const format of ["atif", "otlp", "traces"] as const) {
    const share = shareTraces(place.pond, { format, isRedacted: true }, signal)
    const text = (await Array.fromAsync(share.file(id))).join("")
    expect(text).toContain("[redacted: ")
    expect(text).not.toContain(key)
    expect(share.replaced()?.length).toBeGreaterThan(0)
  }
})
