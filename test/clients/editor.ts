/**
 * Plays an editor for a client that speaks the Agent Client Protocol, from inside its namespace: `editor.ts TALK COMMAND...`,
 * TALK being JSON. Begins a session or loads one, says something, and answers what a client asks of an editor. Prints what it
 * was answered. For what a command line cannot: pictures, compaction, sessions that only an editor goes on with.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { setTimeout as after } from "node:timers/promises"

export interface Talk {
  /** Absent: a new one. */
  readonly session?: string
  readonly prompt: string
  /** The sessions of the directory instead of all that. */
  readonly isListing?: true
  /** A picture that goes with it. */
  readonly image?: string
  /** For work that goes on after the answer. */
  readonly lingerMs?: number
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

const PATIENCE_MS = 90_000
/** Some clients work on a session for a moment after they have said that it is there. */
const SETTLE_MS = 700
const VERSION = 1

if (import.meta.main) {
  const [talk = "{}", ...command] = Bun.argv.slice(2)
  await play(JSON.parse(talk) as Talk, command)
  // What a client left running holds its output open, and would be waited for (Cline's daemon: for as long as two minutes).
  process.stdout.write("", () => process.exit(0))
}

/** The words that play an editor for a command. */
export function asEditor(talk: Talk, command: readonly string[]): readonly string[] {
  return [process.execPath, import.meta.path, JSON.stringify(talk), ...command]
}

async function play(talk: Talk, command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdin: "pipe", stdout: "pipe", stderr: "inherit" })
  const waiting = new Map<number, (message: Message) => void>()
  const send = (message: object) => {
    void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    void child.stdin.flush()
  }
  void readAll(child.stdout, (message) => {
    if (message.method === undefined) waiting.get(message.id ?? -1)?.(message)
    else if (message.id !== undefined) send({ id: message.id, ...answerTo(message) })
  })
  let count = 0
  const ask = async (method: string, params: object) => {
    const { promise, resolve } = Promise.withResolvers<Message>()
    waiting.set(++count, resolve)
    send({ id: count, method, params })
    const answer = await Promise.race([promise, child.exited.then(() => undefined), after(PATIENCE_MS, undefined)])
    process.stdout.write(`${JSON.stringify({ method, answer })}\n`)
    if (answer?.error === undefined && answer !== undefined) return answer.result ?? {}
    child.kill()
    throw new Error(`${method}: ${answer?.error?.message ?? "no answer"}`)
  }
  const cwd = process.cwd()
  const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: false }
  await ask("initialize", { protocolVersion: VERSION, clientCapabilities, clientInfo: { name: "pond", version: "1" } })
  if (talk.isListing === true) {
    await ask("session/list", { cwd })
    child.kill()
    return
  }
  const known = talk.session === undefined ? {} : { sessionId: talk.session }
  const begun = await ask(talk.session === undefined ? "session/new" : "session/load", {
    ...known,
    cwd,
    mcpServers: [],
  })
  await after(SETTLE_MS)
  const sessionId = talk.session ?? begun["sessionId"]
  await ask("session/prompt", { sessionId, prompt: [...pictureOf(talk), { type: "text", text: talk.prompt }] })
  await after(talk.lingerMs ?? SETTLE_MS)
  await child.stdin.end()
  const late = setTimeout(() => child.kill(), 2000)
  await child.exited
  clearTimeout(late)
}

function pictureOf({ image }: Talk): object[] {
  if (image === undefined) return []
  return [{ type: "image", mimeType: "image/png", data: readFileSync(image).toString("base64") }]
}

/** An editor serves files, and lets tools run. */
function answerTo({ method = "", params = {} }: Message): object {
  if (method === "fs/read_text_file") return { result: { content: readFileSync(String(params["path"]), "utf8") } }
  if (method === "fs/write_text_file") {
    writeFileSync(String(params["path"]), String(params["content"]))
    return { result: null }
  }
  const options = (params["options"] ?? []) as readonly { readonly optionId: string; readonly kind: string }[]
  const [first] = options
  const chosen = options.find(({ kind }) => kind.startsWith("allow")) ?? first
  if (method === "session/request_permission" && chosen !== undefined)
    return { result: { outcome: { outcome: "selected", optionId: chosen.optionId } } }
  return { error: { code: -32_601, message: `not served: ${method}` } }
}

async function readAll(stdout: ReadableStream<Uint8Array>, take: (message: Message) => void): Promise<void> {
  let rest = ""
  const decoder = new TextDecoder()
  for await (const chunk of stdout) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) if (line.startsWith("{")) take(JSON.parse(line) as Message)
  }
}
