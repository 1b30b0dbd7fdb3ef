/**
 * `bun run attack wire [--seed N] [--rounds N]`: a served pond, asked by programs without its token, by pages of other
 * ports, and by clients that send their headers a byte at a time. Says what was answered, and how long they held on.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { seededRandom } from "../../src/platform/host/random.ts"
import { type Chaos, numberFlag, type Outcome } from "../lib/outcome.ts"

const ROUNDS = 2_000
const SLOW_CLIENTS = 50
/** pond's clock gives headers ten (`src/http/port-listener.ts`); one and a half of them are for a busy machine. */
const SLOW_SECONDS_MAX = 11.5
const PATHS = ["/v1/status", "/v1/search", "/v1/get", "/v1/ingest", "/v1/sql", "/mcp", "/v1/openapi.json", "/x"]

export const attack: Chaos = {
  summary: "requests without the token, from pages of other ports, and headers that come a byte at a time",
  run: async function* (args): AsyncIterable<Outcome> {
    const home = mkdtempSync(join(tmpdir(), "pond-attack-"))
    const main = join(import.meta.dir, "../../src/main.ts")
    const env = { HOME: home, PATH: process.env["PATH"] ?? "" }
    const server = Bun.spawn([process.execPath, main, "serve", "--port", "0", "--json"], { env, stdout: "pipe" })
    try {
      const { value } = await server.stdout.getReader().read()
      const { address, token_file } = JSON.parse(new TextDecoder().decode(value))
      const token = readFileSync(token_file, "utf8").trim()
      const seed = numberFlag(args, "seed", 1)
      yield await guesses(address, token, seed, numberFlag(args, "rounds", ROUNDS))
      yield await otherPages(address, token)
      const { hostname, port } = new URL(address)
      yield await slowHeaders("a port", () => connect(Number(port), hostname))
      yield await slowOnSocket(join(home, "socket"), main, env)
      const status = (await fetch(`${address}/v1/status`, { headers: { authorization: `Bearer ${token}` } })).status
      yield { what: "afterwards the server answers", isRight: status === 200, found: String(status) }
    } finally {
      server.kill("SIGTERM")
      await server.exited
      rmSync(home, { recursive: true, force: true })
    }
  },
}

async function guesses(address: string, token: string, seed: number, rounds: number): Promise<Outcome> {
  const random = seededRandom(seed)
  const any = <T>(list: readonly T[]): T => list[Math.trunc(random.next() * list.length)] as T
  const through: string[] = []
  for (let round = 0; round < rounds; round++) {
    const at = Math.trunc(random.next() * token.length)
    const wrong = any([
      "",
      token.slice(0, at),
      `${token}${at}`,
      `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`,
    ])
    const headers = any([
      { authorization: `Bearer ${wrong}` },
      { authorization: `Basic ${token}` },
      { authorization: `Basic ${btoa(`${token}:${wrong}`)}` },
      { cookie: token },
      {},
    ])
    const path = `${any(PATHS)}${any(["", `?token=${token}`, `?access_token=${token}`])}`
    const { status } = await fetch(`${address}${path}`, { method: any(["GET", "POST", "PUT", "OPTIONS"]), headers })
    if (status !== 401) through.push(`${path} ${status}`)
  }
  const found = `${through.length} of ${rounds} answered (seed ${seed})${through.slice(0, 3).join(", ")}`
  return { what: "requests without the token", isRight: through.length === 0, found }
}

async function otherPages(address: string, token: string): Promise<Outcome> {
  const origins = [
    "http://localhost:3000",
    "http://127.0.0.1",
    "http://[::1]:1",
    "null",
    "https://evil.example",
    "file://",
  ]
  const body = '{"protocol_version":1,"events":[]}'
  const answered: string[] = []
  for (const origin of origins) {
    const headers = { origin, authorization: `Bearer ${token}`, "content-type": "application/json" }
    const { status } = await fetch(`${address}/v1/ingest`, { method: "POST", headers, body })
    const { error } = (await (await fetch(`${address}/v1/status`, { headers })).json()) as { error?: unknown }
    if (status !== 400 || error === undefined) answered.push(origin)
  }
  // What a page loads without asking a script, such as an image: the browser adds the password that it knows.
  const sites = ["cross-site", "same-site"]
  for (const site of sites) {
    const headers = { "sec-fetch-site": site, authorization: `Basic ${btoa(`pond:${token}`)}` }
    if ((await fetch(`${address}/v1/status`, { headers })).status !== 400) answered.push(site)
  }
  const found = `${answered.length} of ${origins.length + sites.length} answered${answered.map((each) => `, ${each}`).join("")}`
  return { what: "pages of other ports", isRight: answered.length === 0, found }
}

async function slowOnSocket(path: string, main: string, env: Record<string, string>): Promise<Outcome> {
  const server = Bun.spawn([process.execPath, main, "serve", "--socket", path, "--json"], { env, stdout: "pipe" })
  try {
    await server.stdout.getReader().read()
    return await slowHeaders("a socket", () => connect(path))
  } finally {
    server.kill("SIGTERM")
    await server.exited
  }
}

async function slowHeaders(where: string, open: () => Socket): Promise<Outcome> {
  const held = await Promise.all(Array.from({ length: SLOW_CLIENTS }, () => heldSeconds(open)))
  const longest = Math.max(...held)
  const found = `${SLOW_CLIENTS} clients held on for at most ${longest.toFixed(1)} s (limit ${SLOW_SECONDS_MAX} s)`
  return { what: `headers a byte at a time on ${where}`, isRight: longest <= SLOW_SECONDS_MAX, found }
}

function heldSeconds(open: () => Socket): Promise<number> {
  const begun = performance.now()
  return new Promise((resolve) => {
    const socket = open()
    socket.once("connect", () => socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: "))
    const sending = setInterval(() => socket.write("a"), 500)
    const end = () => {
      clearInterval(sending)
      clearTimeout(patience)
      socket.destroy()
      resolve((performance.now() - begun) / 1000)
    }
    const patience = setTimeout(end, 2 * SLOW_SECONDS_MAX * 1000)
    socket.once("close", end)
    socket.once("error", end)
  })
}
