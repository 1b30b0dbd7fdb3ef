/** A headless Chromium that is asked over its debugging protocol, for judging pages. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

export interface Tab {
  /** Until the page and everything in it is loaded. */
  open(url: string): Promise<void>
  /** Runs in every page that is opened from now on, before anything of the page. */
  first(script: string): Promise<void>
  /** The value of an expression in the page, as JSON. */
  value<T>(expression: string): Promise<T>
  /** As wide and in the colours that a person has it. */
  show(screen: Screen): Promise<void>
  /** A PNG of what is seen. */
  screenshot(): Promise<Uint8Array>
  /** One key, as a person presses it: a letter, `Enter`, `Tab`, `Escape`. */
  press(key: string): Promise<void>
  /** Text into what has the keyboard. */
  type(text: string): Promise<void>
  /** Whether an expression becomes true within the time. */
  becomes(expression: string, withinMs: number): Promise<boolean>
  /** As over a line that is slow to answer. */
  slowDown(latencyMs: number): Promise<void>
  /** What the page was refused, and what failed in it. */
  readonly complaints: readonly string[]
}

export interface Screen {
  readonly width: number
  readonly height: number
  readonly theme: "light" | "dark"
}

export interface Browser extends AsyncDisposable {
  tab(): Promise<Tab>
}

const FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
  ...["--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0"],
]
/** Keys that are no letter: what they type, and the number by which a browser knows them. */
const NAMED_KEYS: Readonly<Record<string, { readonly text?: string; readonly windowsVirtualKeyCode: number }>> = {
  Enter: { text: "\r", windowsVirtualKeyCode: 13 },
  Escape: { windowsVirtualKeyCode: 27 },
  Tab: { windowsVirtualKeyCode: 9 },
}
const START_TRIES = 200
const START_PAUSE_MS = 50
const LOOK_MS = 50

export async function startBrowser(folder: string): Promise<Browser> {
  const program = process.env["CHROMIUM"] ?? Bun.which("chromium") ?? Bun.which("google-chrome")
  if (program === null) throw new Error("Chromium is not installed: set CHROMIUM to its path.")
  const profile = join(folder, "browser")
  const child = Bun.spawn([program, ...FLAGS, `--user-data-dir=${profile}`], { stdout: "ignore", stderr: "ignore" })
  const address = await addressIn(join(profile, "DevToolsActivePort"))
  return {
    tab: () => openTab(address),
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await child.exited
    },
  }
}

async function addressIn(path: string): Promise<string> {
  for (let tries = 0; tries < START_TRIES; tries++) {
    const [port] = existsSync(path) ? readFileSync(path, "utf8").split("\n") : []
    if (port !== undefined && port !== "") return `127.0.0.1:${port}`
    await Bun.sleep(START_PAUSE_MS)
  }
  throw new Error("Chromium did not start.")
}

interface Answer {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string }
}

async function openTab(address: string): Promise<Tab> {
  const made = await fetch(`http://${address}/json/new?about:blank`, { method: "PUT" })
  const { webSocketDebuggerUrl } = (await made.json()) as { webSocketDebuggerUrl: string }
  const socket = new WebSocket(webSocketDebuggerUrl)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  const waiting = new Map<number, (answer: Answer) => void>()
  const complaints: string[] = []
  let loaded = Promise.withResolvers<void>()
  socket.onmessage = ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
    if (answer.method === "Page.loadEventFired") loaded.resolve()
    if (answer.method === "Log.entryAdded" || answer.method === "Runtime.exceptionThrown")
      complaints.push(JSON.stringify(answer.params))
  }
  let sent = 0
  const send = async (method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> => {
    const id = ++sent
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    const { result = {}, error } = await answered
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`)
  return {
    complaints,
    open: async (url) => {
      loaded = Promise.withResolvers()
      await send("Page.navigate", { url })
      await loaded.promise
    },
    first: async (source) => {
      await send("Page.addScriptToEvaluateOnNewDocument", { source })
    },
    value: async <T>(expression: string) => {
      const { result } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })
      return (result as { readonly value: T }).value
    },
    show: async ({ width, height, theme }) => {
      const screen = { width, height, deviceScaleFactor: 1, mobile: false }
      await send("Emulation.setDeviceMetricsOverride", screen)
      await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] })
    },
    type: async (text) => {
      await send("Input.insertText", { text })
    },
    becomes: async (expression, withinMs) => {
      const end = performance.now() + withinMs
      for (;;) {
        const { result } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })
        if ((result as { readonly value?: unknown }).value === true) return true
        if (performance.now() > end) return false
        await Bun.sleep(LOOK_MS)
      }
    },
    slowDown: async (latency) => {
      const speed = latency === 0 ? -1 : 100_000
      const line = { offline: false, latency, downloadThroughput: speed, uploadThroughput: speed }
      await send("Network.emulateNetworkConditions", line)
    },
    screenshot: async () => {
      const { data } = await send("Page.captureScreenshot", { format: "png" })
      return Uint8Array.fromBase64(String(data))
    },
    press: async (key) => {
      const pressed = { key, ...(NAMED_KEYS[key] ?? { text: key }) }
      await send("Input.dispatchKeyEvent", { type: "keyDown", ...pressed })
      await send("Input.dispatchKeyEvent", { type: "keyUp", key })
    },
  }
}
