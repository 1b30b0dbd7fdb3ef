/** Who connects and does not ask: pond's own clock ends it, and no number of them keeps others out. */
import { afterAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Fetch } from "../../src/http/access.ts"
import { CONNECTION_LIMITS, type ConnectionLimits } from "../../src/http/port-listener.ts"
import { listenOnPort } from "../../src/http/server.ts"
import { listenOnSocket } from "../../src/http/socket-listener.ts"

const place = mkdtempSync(join(tmpdir(), "pond-connections-"))
afterAll(() => rmSync(place, { recursive: true }))
let sockets = 0

const LISTENERS = [
  ["a port", (asked: Fetch, limits: ConnectionLimits) => listenOnPort(asked, "127.0.0.1", 0, limits)],
  ["a socket", (asked: Fetch, limits: ConnectionLimits) => listenOnSocket(asked, join(place, `${++sockets}`), limits)],
] as const

function ask(address: string, path = "/", init: RequestInit = {}): Promise<Response> {
  return address.startsWith("http:")
    ? fetch(`${address}${path}`, init)
    : fetch(`http://localhost${path}`, { ...init, unix: address })
}

const GREETING = "GET /x HTTP/1.1\r\nhost: localhost\r\n"
const answer = async (request: Request) => new Response(`${request.method} ${await request.text()}`)

/** Resolves with what was answered once the server closed the connection. */
function opened(address: string, first: string): { readonly socket: Socket; readonly closed: Promise<string> } {
  const { hostname, port } = address.startsWith("http:") ? new URL(address) : { hostname: "", port: "" }
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ""
  const socket = port === "" ? connect(address) : connect(Number(port), hostname)
  socket.once("connect", () => socket.write(first))
  socket.on("data", (piece) => {
    text += piece.toString()
  })
  socket.on("error", () => undefined)
  socket.once("close", () => resolve(text))
  return { socket, closed: promise }
}

/** Writes a byte whenever the loop comes round, for as long as it is let. */
function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write("a"), 10)
  socket.once("close", () => clearInterval(timer))
}

describe.each(LISTENERS)("%s", (_, listen) => {
  test("headers that come a byte at a time end with pond's clock, as does a connection that says nothing", async () => {
    const headersMs = 300
    const server = await listen(answer, { headersMs, waitingMax: 100 })
    const began = performance.now()
    const slow = opened(server.address, `${GREETING}x: `)
    drip(slow.socket)
    const silent = opened(server.address, "")
    const used = opened(server.address, `${GREETING}\r\n`)
    drip(used.socket)
    expect(await slow.closed).toBe("")
    expect(await silent.closed).toBe("")
    expect(await used.closed).toContain("GET ")
    const took = performance.now() - began
    expect(took).toBeGreaterThan(headersMs * 0.9)
    // The parser's own timer takes 12 s.
    expect(took).toBeLessThan(9_000)
    await server.stop()
  })

  test("a request that runs is not ended by the clock of headers, however long it takes", async () => {
    const gate = Promise.withResolvers<Response>()
    const server = await listen(() => gate.promise, { headersMs: 50, waitingMax: 100 })
    const silent = opened(server.address, "")
    const running = ask(server.address)
    await silent.closed
    gate.resolve(new Response("late"))
    expect(await (await running).text()).toBe("late")
    await server.stop()
  })

  test("a client whose kept connection the clock has ended asks on another", async () => {
    const server = await listen(answer, { headersMs: 50, waitingMax: 100 })
    for (const body of ["first", "second"]) {
      expect(await (await ask(server.address, "/", { method: "POST", body })).text()).toBe(`POST ${body}`)
      await opened(server.address, "").closed
    }
    await server.stop()
  })

  test("one connection more than may wait closes the one that waits longest, and whoever asks is answered", async () => {
    const server = await listen(answer, { headersMs: 60_000, waitingMax: 5 })
    const silent = Array.from({ length: 12 }, () => opened(server.address, `${GREETING}x: `))
    await Promise.all(silent.slice(0, 6).map(({ closed }) => closed))
    expect(await (await ask(server.address, "/", { method: "POST", body: "hello" })).text()).toBe("POST hello")
    await server.stop()
    await Promise.all(silent.map(({ closed }) => closed))
  })

  test("one connection carries one request after the other, and a body that nobody read ends it", async () => {
    let count = 0
    const refuse = async () => new Response(String(++count))
    const server = await listen(refuse, { headersMs: 300, waitingMax: 5 })
    const both = opened(server.address, `${GREETING}\r\n${GREETING}\r\n`)
    expect((await both.closed).match(/HTTP\/1\.1 200/g)).toHaveLength(2)
    const unread = opened(server.address, `POST /x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf`)
    expect((await unread.closed).toLowerCase()).toContain("connection: close")
    await server.stop()
  })

  test("an answer that is read slowly arrives whole, and whoever leaves in the middle of one stops it", async () => {
    let cancelled = 0
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
        cancel: () => {
          cancelled++
        },
      })
    const long = () => new Blob(Array.from({ length: 100 }, (_piece, at) => new Uint8Array(100_000).fill(at))).stream()
    const server = await listen(
      async ({ url }) => new Response(url.endsWith("/endless") ? endless() : long()),
      CONNECTION_LIMITS,
    )
    const bytes = new Uint8Array(await (await ask(server.address, "/long")).arrayBuffer())
    expect([bytes.length, bytes[0], bytes[5_000_000], bytes.at(-1)]).toEqual([10_000_000, 0, 50, 99])
    const leaving = new AbortController()
    const reader = (await ask(server.address, "/endless", { signal: leaving.signal })).body?.getReader()
    await reader?.read()
    leaving.abort()
    await server.stop()
    expect(cancelled).toBe(1)
  })

  test("a target that is no path, and a host that is none, are refused without a word of theirs", async () => {
    const server = await listen(
      async ({ url, headers }) => Response.json([url, headers.get("host")]),
      CONNECTION_LIMITS,
    )
    const said = async (text: string) => {
      const { socket, closed } = opened(server.address, text)
      socket.once("data", () => socket.end())
      return await closed
    }
    expect(await said("GET http://evil.example/x HTTP/1.1\r\nhost: localhost\r\n\r\n")).toStartWith("HTTP/1.1 400")
    expect(await said("GET //evil.example/x HTTP/1.1\r\nhost: a, b\r\n\r\n")).toContain(
      '["http://localhost//evil.example/x","a, b"]',
    )
    await server.stop()
  })
})

test("a port that is in use is said, with what to do", async () => {
  const server = await listenOnPort(answer, "127.0.0.1", 0)
  const again = listenOnPort(answer, "127.0.0.1", Number(new URL(server.address).port))
  expect(again).rejects.toMatchObject({ code: "storage_unavailable", message: expect.stringContaining("in use") })
  await again.catch(() => undefined)
  await server.stop()
})
