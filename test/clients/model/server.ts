/**
 * A model that says what a script says, for driving real clients without a network. It keeps no state: the newest
 * `[[script:NAME]]` of a prompt chooses the script, and the ids of the calls that came back say how far it is, so that what
 * a client asks on the side (a title, a summary) cannot lead it astray. `[[check:WORD]]` is answered by `CHECK-OK WORD`.
 *
 * Prints a line as soon as it listens. MODEL_LOG gets every request and its answer, MODEL_CWD is the client's directory.
 */
import { appendFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type GeminiBody, geminiRoute, readGemini, sendGemini } from "./gemini.ts"
import { type Reply, sendJson, sendReply } from "./reply.ts"
import { type Api, type Asked, type Body, type Item, readRequest } from "./request.ts"
import { SCRIPTS, SUMMARY, TITLE, type Turn } from "./script.ts"
import { anything, callFor } from "./tools.ts"

/** One line of the log. */
export interface Logged {
  readonly kind: "script" | "check" | "side" | "other"
  readonly script?: string
  readonly tools: readonly string[]
  readonly items: readonly Item[]
  /** What the client itself says to the model, in the words of hooks as well. */
  readonly system: string
  readonly reply: Reply
}

interface Decision {
  readonly kind: Logged["kind"]
  readonly script?: string
  readonly step: number
  readonly turn: Turn
}

const PORT = 8484
const LOG = process.env["MODEL_LOG"] ?? "/dev/null"
const CWD = process.env["MODEL_CWD"] ?? "/"
const ROUTES: readonly (readonly [RegExp, Api])[] = [
  [/\/responses$/, "responses"],
  [/\/chat\/completions$/, "chat"],
  [/\/messages$/, "anthropic"],
]
const TOKENS = 1000

if (import.meta.main) {
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      sendJson(response, { type: "error", error: { type: "api_error", message: String(error) } }, 400)
      throw error
    })
  })
  server.listen(PORT, "127.0.0.1", () => process.stdout.write("listening\n"))
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname: path } = new URL(request.url ?? "/", "http://127.0.0.1")
  const bytes: Uint8Array[] = []
  for await (const chunk of request) bytes.push(chunk)
  const api = ROUTES.find(([route]) => route.test(path))?.[1]
  const gemini = geminiRoute(path)
  const read = () => JSON.parse(Buffer.concat(bytes).toString("utf8")) as unknown
  if (request.method === "POST" && api !== undefined) {
    const body = read() as Body
    return sendReply(response, api, body, loggedReply(readRequest(api, body), api))
  }
  if (request.method === "POST" && gemini !== undefined)
    return sendGemini(response, gemini, loggedReply(readGemini(read() as GeminiBody)))
  if (path === "/api/internal") return sendJson(response, { ok: true, result: internalOf(request.url ?? "") })
  if (path.endsWith("/count_tokens")) return sendJson(response, { input_tokens: TOKENS })
  if (path.endsWith(":countTokens")) return sendJson(response, { totalTokens: TOKENS })
  if (path.endsWith("/models")) return sendJson(response, { object: "list", data: [], models: [] })
  if (request.method === "HEAD") return void response.writeHead(200).end()
  // Codex would ask OpenAI itself over a web socket, and asks five times where it is told less than this.
  if (request.headers.upgrade !== undefined) return void response.writeHead(426).end()
  sendJson(response, { error: { type: "not_found_error", message: `the scripted model has no ${path}` } }, 404)
}

function loggedReply(asked: Asked, api?: Api): Reply {
  const decision = decide(asked)
  const reply = replyOf(decision, asked, api)
  const { kind, script } = decision
  const { items, system } = asked
  const tools = asked.tools.map(({ name }) => name)
  appendFileSync(LOG, `${JSON.stringify({ kind, script, tools, items, system, reply })}\n`)
  return reply
}

/** Amp asks its own server who is there, and tells it of each thread. */
function internalOf(url: string): unknown {
  const nobody = { id: "user_1", email: "dev@example.invalid", username: "dev", features: [], team: null }
  return url.includes("getUserInfo") ? nobody : {}
}

// --- What to say -------------------------------------------------------------------------------------------------------

const MARK = /\[\[(script|scn|check|chk):([\w.-]+)\]\]/g
const ASKS_TITLE =
  /conversation title|title generator|concise.{0,40}title|session title|title for|generate a .{0,20}title/i
const ASKS_SUMMARY = /summar|compact|checkpoint|hand-?off/i
/** Some clients ask for a summary in the middle of a session, with all of its tools. */
const ASKS_COMPACTION =
  /CONTEXT CHECKPOINT COMPACTION|create a detailed summary of|summary of the conversation|Provide a detailed prompt for continuing|anchored summary|Create a handoff summary for the/i
/** Grok asks for a line on each turn when it is over, with all of its tools and the words of the prompt. */
const ASKS_RECAP = /Focus on what the assistant concluded/
const SUMMED_UP: Decision = { kind: "side", step: 0, turn: { text: SUMMARY } }

function decide(asked: Asked): Decision {
  const { items, tools, system, wantedJson } = asked
  if (wantedJson !== undefined) return { kind: "side", step: 0, turn: { text: JSON.stringify(anything(wantedJson)) } }
  const at = items.findLastIndex(({ role, text = "" }) => role === "user" && text.search(MARK) >= 0)
  const lastAt = items.findLastIndex(({ role }) => role === "user")
  const last = items[lastAt]?.text ?? ""
  if (tools.length === 0) {
    const said = onTheSide(`${system.slice(0, 4000)}\n${last.slice(-12_000)}`)
    if (said !== undefined) return said
  } else if (ASKS_RECAP.test(last)) return { kind: "side", step: 0, turn: { text: TITLE } }
  else if (lastAt > at && ASKS_COMPACTION.test(last)) return SUMMED_UP
  const [, kind = "", name = ""] = [...(items[at]?.text ?? "").matchAll(MARK)].at(-1) ?? []
  if (kind.startsWith("ch")) return { kind: "check", step: 0, turn: { text: `CHECK-OK ${name}`, reasoning: "a check" } }
  const script = SCRIPTS[name]
  if (script === undefined) return { kind: tools.length === 0 ? "side" : "other", step: 0, turn: { text: "ok" } }
  const step = stepsDone(items.slice(at + 1))
  return { kind: "script", script: name, step, turn: script[step] ?? { text: `(${name} is over at step ${step})` } }
}

function onTheSide(probe: string): Decision | undefined {
  if (ASKS_TITLE.test(probe)) return { kind: "side", step: 0, turn: { text: TITLE } }
  return ASKS_SUMMARY.test(probe) ? SUMMED_UP : undefined
}

/** Ids of calls say their step. Where a client made ids of its own, results that stand together are one step. */
function stepsDone(items: readonly Item[]): number {
  const results = items.filter(({ role }) => role === "result")
  const steps = results.flatMap(({ id = "" }) => /s(\d+)k\d+z/.exec(id)?.[1] ?? []).map(Number)
  if (steps.length > 0) return Math.max(...steps) + 1
  return items.filter(({ role }, index) => role === "result" && items[index - 1]?.role !== "result").length
}

function replyOf({ turn, step }: Decision, asked: Asked, api?: Api): Reply {
  const prefix = api === "anthropic" ? "toolu_01" : "call_"
  const calls = (turn.deeds ?? []).flatMap((deed, index) => {
    const call = callFor(deed, asked, CWD)
    const id = `${prefix}s${step}k${index}z${crypto.randomUUID().slice(-12)}`
    return call === undefined ? [] : [{ id, ...call }]
  })
  const { reasoning = "", text = "" } = turn
  const input = Math.min(100_000, TOKENS + Math.ceil(JSON.stringify(asked.items).length / 4))
  const usage = turn.usage ?? { input, output: 5 + Math.ceil((text.length + reasoning.length) / 4), cached: 0 }
  return { reasoning, text, calls, usage }
}
