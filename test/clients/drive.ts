/**
 * Drives a client over the protocol that it speaks with editors, from inside its namespace: `drive.ts codex|pi|opencode|kilo STEPS`,
 * STEPS being JSON. `$name` in a step is what an earlier step saved. Prints what was answered to each, one line each.
 */
import { setTimeout as after } from "node:timers/promises"

export interface Step {
  /** Of Codex a method, of pi a command, of opencode and Kilo Code a path. */
  readonly ask: string
  readonly params?: Readonly<Record<string, unknown>>
  /** An event to wait for before going on. Of opencode: what the answer must have in it; it is asked for until it has. */
  readonly until?: string
  /** A name, and where in the answer its value stands. */
  readonly save?: readonly [name: string, path: readonly (string | number)[]]
}

type Message = Record<string, unknown>

const PORT = 4599
const PATIENCE_MS = 40_000
const saved = new Map<string, string>()

if (import.meta.main) {
  const [client = "", steps = "[]", ...words] = Bun.argv.slice(2)
  if (client === "opencode" || client === "kilo") await driveServer(client, JSON.parse(steps) as Step[])
  else await driveLines(client, JSON.parse(steps) as Step[], words)
}

function filled<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replace(/\$(\w+)/g, (all, name) => saved.get(name) ?? all)) as T
}

function report({ ask, save }: Step, answer: unknown): void {
  process.stdout.write(`${JSON.stringify({ ask, answer })}\n`)
  if (save === undefined) return
  const [name, path] = save
  const found = path.reduce<unknown>((at, key) => (at as Record<string | number, unknown> | undefined)?.[key], answer)
  saved.set(name, String(found))
}

// --- Codex and pi: lines of JSON ---------------------------------------------------------------------------------------

async function driveLines(client: string, steps: readonly Step[], words: readonly string[]): Promise<void> {
  const isCodex = client === "codex"
  const child = Bun.spawn(isCodex ? [client, "app-server"] : [client, "--mode", "rpc", ...words], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  })
  const messages = inbox(child.stdout)
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`)
  const ask = async (id: string, { ask: what, params = {} }: Step) => {
    await send(isCodex ? { id, method: what, params } : { id, type: what, ...params })
    return messages.first((message) => message["id"] === id && message["method"] === undefined)
  }
  if (isCodex) {
    const clientInfo = { name: "pond", title: "pond", version: "1" }
    await ask("0", { ask: "initialize", params: { clientInfo, capabilities: { experimentalApi: true } } })
    await send({ method: "initialized" })
  }
  for (const [index, raw] of steps.entries()) {
    const step = filled(raw)
    const from = messages.count()
    report(step, await ask(String(index + 1), step))
    const { until } = step
    if (until === undefined) continue
    const event = await messages.first((message) => message["method"] === until || message["type"] === until, from)
    if (event === undefined) throw new Error(`${client} did not say ${until}`)
  }
  await child.stdin.end()
  const late = setTimeout(() => child.kill(), 2000)
  await child.exited
  clearTimeout(late)
}

function inbox(stdout: ReadableStream<Uint8Array>) {
  const messages: Message[] = []
  let wake: () => void = () => undefined
  const read = async () => {
    let rest = ""
    const decoder = new TextDecoder()
    for await (const chunk of stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) if (line.startsWith("{")) messages.push(JSON.parse(line) as Message)
      wake()
    }
  }
  void read()
  return {
    count: () => messages.length,
    async first(wanted: (message: Message) => boolean, from = 0): Promise<Message | undefined> {
      const late = performance.now() + PATIENCE_MS
      for (;;) {
        const found = messages.find((message, index) => index >= from && wanted(message))
        const left = late - performance.now()
        if (found !== undefined || left <= 0) return found
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        // A limit that was not reached must not keep the process: each list of Codex would take all of its 40 s.
        const limit = setTimeout(resolve, left)
        await promise
        clearTimeout(limit)
      }
    },
  }
}

// --- opencode and Kilo Code: HTTP ----------------------------------------------------------------------------------------------------

async function driveServer(client: string, steps: readonly Step[]): Promise<void> {
  const child = Bun.spawn([client, "serve", "--port", String(PORT)], { stdout: "pipe", stderr: "inherit" })
  const base = `http://127.0.0.1:${PORT}`
  for await (const chunk of child.stdout) if (Buffer.from(chunk).includes("listening")) break
  for (const raw of steps) {
    const step = filled(raw)
    const { until = "" } = step
    const late = performance.now() + PATIENCE_MS
    for (;;) {
      const answer = await asked(base, step)
      if (!answer.includes(until) && performance.now() < late) await after(100)
      else {
        report(step, JSON.parse(answer))
        break
      }
    }
  }
  // It writes what it has done after it has answered.
  await after(800)
  child.kill()
  await child.exited
}

async function asked(base: string, { ask, params }: Step): Promise<string> {
  const url = new URL(ask, base)
  url.searchParams.set("directory", process.cwd())
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const body = params === undefined ? {} : { method: "POST", body: JSON.stringify(params) }
  const response = await fetch(url, { ...body, headers: { "content-type": "application/json" }, signal })
  const text = await response.text()
  if (!response.ok) throw new Error(`${ask}: ${response.status} ${text}`)
  return text
}
