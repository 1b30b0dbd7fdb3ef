import { afterAll, beforeAll, expect, test } from "bun:test"
import { connect } from "node:net"
import { join } from "node:path"
import { createHttp } from "../../src/http/app.ts"
import { type HttpServer, listenOnPort } from "../../src/http/server.ts"
import { createMcpHandler } from "../../src/mcp/server.ts"
import { memoryPond, type TestPond } from "../operations/support.ts"
import { said, session } from "../sessions/support.ts"

/** What somebody sends who means no good, to one server that has to stand at the end of it. */
let box: TestPond
let server: HttpServer

beforeAll(async () => {
  box = memoryPond()
  await box.place.sessions.write([
    {
      session: session("s", { title: "\u001b]0;owned\u0007", project: "/w\u001b[2J" }),
      entries: [said("s", 0, "hello \u001b[31m")],
    },
  ])
  await Bun.write(join(box.place.path, "secret.txt"), "hunter2")
  const limits = { bytesMax: 100_000, timeoutMs: 5000 }
  server = await listenOnPort(
    createHttp({ pond: box.pond, allowedHosts: ["pond.internal"], limits, mcp: createMcpHandler(box.pond) }),
    "127.0.0.1",
    0,
  )
})
afterAll(async () => {
  await server.stop()
  box[Symbol.dispose]()
})

async function isAlive(): Promise<boolean> {
  return (await fetch(`${server.address}/v1/status`)).ok
}

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${server.address}${path}`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  })

const LEAKS = /hunter2|node_modules|\.ts:\d+|at async|\/tmp\/|Error:/

// --- Pages of other sites ----------------------------------------------------------------------------------------------

test.each([
  "https://evil.example",
  "http://localhost.evil.example",
  "null",
  "http://127.0.0.1.evil.example:9797",
  "file://",
])("a page of %s can neither write nor read, whatever it calls the body", async (origin) => {
  const event = JSON.stringify({ protocol_version: 1, events: [{ kind: "session", ...session("planted") }] })
  for (const [path, body] of [
    ["/v1/ingest", event],
    ["/v1/get", '{"protocol_version":1,"session_id":"s"}'],
    ["/mcp", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
  ] as const) {
    const response = await post(path, body, { origin, "content-type": "text/plain" })
    expect({ path, status: response.status }).toEqual({ path, status: 400 })
    expect(response.headers.get("access-control-allow-origin")).toBeNull()
  }
  expect(await box.place.sessions.session("planted")).toBeUndefined()
})

test("a page of another program of this machine is answered nothing", async () => {
  const event = JSON.stringify({ protocol_version: 1, events: [{ kind: "session", ...session("planted") }] })
  for (const origin of ["http://localhost:3000", "http://127.0.0.1:1", "http://localhost"]) {
    const response = await post("/v1/ingest", event, { origin })
    expect({ origin, status: response.status }).toEqual({ origin, status: 400 })
  }
  expect(await box.place.sessions.session("planted")).toBeUndefined()
})

test.each([undefined, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])(
  "nothing is stored that comes as %s",
  async (type) => {
    const event = JSON.stringify({ protocol_version: 1, events: [{ kind: "session", ...session("planted") }] })
    const body = new Blob([event])
    const headers = type === undefined ? {} : { "content-type": type }
    const response = await fetch(`${server.address}/v1/ingest`, { method: "POST", body, headers })
    expect(response.status).toBe(400)
    expect(await box.place.sessions.session("planted")).toBeUndefined()
  },
)

test("a page of our own, or of a host that was allowed, is answered", async () => {
  for (const origin of [server.address, "https://pond.internal"]) {
    const response = await post("/v1/get", '{"protocol_version":1,"session_id":"s"}', { origin })
    expect({ origin, status: response.status }).toEqual({ origin, status: 200 })
  }
})

// --- Ways out of a directory -------------------------------------------------------------------------------------------

const PLACES = [
  "../secret.txt",
  "../../../../etc/passwd",
  "/etc/passwd",
  "..\\..\\secret.txt",
  "%2e%2e%2fsecret.txt",
  "s/../../secret.txt",
  "s\0",
]

test.each(PLACES)("the name %j leads nowhere, wherever it is said", async (name) => {
  const bodies: [path: string, fields: object, status: number][] = [
    ["/v1/get", { session_id: name }, 404],
    ["/v1/get", { message_id: name }, 404],
    ["/v1/get", { session_id: "s", after_id: name }, 404],
    ["/v1/get", { message_id: "m0", session_id_of_message: name }, 404],
    ["/v1/get", { namespace: name, session_id: "s" }, 403],
    ["/v1/export", { session_id: name }, 404],
    ["/v1/restore_plan", { session_id: name }, 404],
    ["/v1/restore_plan", { session_id: "s", to: name }, 400],
    ["/v1/search", { query: "hello", filters: { session_id: name } }, 200],
    ["/v1/search", { query: "hello", cursor: name }, 400],
  ]
  for (const [path, fields, status] of bodies) {
    const response = await post(path, JSON.stringify({ protocol_version: 1, ...fields }))
    const text = await response.text()
    expect({ path, fields, status: response.status, leaks: LEAKS.exec(text)?.[0] }).toEqual({
      path,
      fields,
      status,
      leaks: undefined,
    })
  }
  for (const folder of ["/v1/schema/", "/v1/sql/exports/"]) {
    const response = await fetch(`${server.address}${folder}${encodeURIComponent(name)}`)
    expect({ folder, status: response.status, leaks: LEAKS.test(await response.text()) }).toEqual({
      folder,
      status: 404,
      leaks: false,
    })
  }
})

// --- Bodies ------------------------------------------------------------------------------------------------------------

const DEEP = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`
const BODIES: readonly (readonly [what: string, body: string])[] = [
  ["nothing", ""],
  ["half an object", "{"],
  ["a list", "[]"],
  ["a number", "1"],
  ["null", "null"],
  ["text behind it", '{"protocol_version":1} x'],
  ["a bare control character", '{"protocol_version":1,"session_id":"a\u0001"}'],
  ["a comment", "// hello"],
  ["depth", DEEP],
  ["depth of a field", `{"protocol_version":1,"session_id":${DEEP}}`],
  ["depth of lists", `{"protocol_version":1,"session_id":${"[".repeat(40_000)}${"]".repeat(40_000)}}`],
  ["a prototype", '{"protocol_version":1,"session_id":"s","__proto__":{"admin":true}}'],
  ["a constructor", '{"protocol_version":1,"session_id":"s","constructor":{"prototype":{"admin":true}}}'],
  ["a version as text", '{"protocol_version":"1","session_id":"s"}'],
  ["a version that is none", '{"protocol_version":1.5,"session_id":"s"}'],
  ["a version as null", '{"protocol_version":null,"session_id":"s"}'],
  ["a namespace that is no text", '{"protocol_version":1,"namespace":{"$ne":1},"session_id":"s"}'],
  ["too much", JSON.stringify({ protocol_version: 1, session_id: "x".repeat(200_000) })],
]

test.each(BODIES)("a body that is %s is told what is wrong with it", async (_, body) => {
  for (const path of ["/v1/get", "/v1/search", "/v1/sql", "/v1/ingest", "/v1/export", "/v1/restore_plan"]) {
    const response = await post(path, body)
    const text = await response.text()
    expect({ path, status: response.status, leaks: LEAKS.exec(text)?.[0] }).toEqual({
      path,
      status: 400,
      leaks: undefined,
    })
    expect(Object.keys(JSON.parse(text).error)).toEqual(["code", "message", "details"])
  }
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
  expect(await isAlive()).toBe(true)
})

const CALLS: readonly (readonly [what: string, body: string])[] = [
  ["nothing", ""],
  ["no JSON", "{"],
  ["another protocol", '{"jsonrpc":"1.0","id":1,"method":"tools/list"}'],
  ["no method", '{"jsonrpc":"2.0","id":1}'],
  ["a method that is a number", '{"jsonrpc":"2.0","id":1,"method":7}'],
  ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"tools/list"}'],
  ["parameters that are a list", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}'],
  ["a list of numbers", "[1,2,3]"],
  ["depth", DEEP],
  ["too much", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${"x".repeat(200_000)}"}}`],
  [
    "a prototype",
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__","arguments":{"__proto__":{"admin":1}}}}',
  ],
]

test.each(CALLS)("a call over MCP that is %s is told so, and nothing of us", async (_, body) => {
  const response = await post("/mcp", body, { accept: "application/json, text/event-stream" })
  const text = await response.text()
  expect({ isError: response.status >= 400 || text.includes('"error"'), leaks: LEAKS.exec(text)?.[0] }).toEqual({
    isError: true,
    leaks: undefined,
  })
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
  expect(await isAlive()).toBe(true)
})

test("a call over MCP whose body does not come is given up", async () => {
  await using slow = await slowServer()
  const { hostname, port } = new URL(slow.address)
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
      )
    })
    socket.once("data", (chunk) => {
      resolve(chunk.toString())
      socket.destroy()
    })
    socket.once("error", reject)
  })
  expect(answer).toContain("400")
})

async function slowServer(): Promise<AsyncDisposable & { readonly address: string }> {
  const limits = { timeoutMs: 150 }
  const own = await listenOnPort(
    createHttp({ pond: box.pond, allowedHosts: [], limits, mcp: createMcpHandler(box.pond) }),
    "127.0.0.1",
    0,
  )
  return await Promise.resolve({ address: own.address, [Symbol.asyncDispose]: () => own.stop() })
}

test("too much is refused by what it says of itself before any of it came, and by what came where it says nothing", async () => {
  const bytesMax = 1_000
  const answer = createHttp({ pond: box.pond, allowedHosts: [], limits: { bytesMax } })
  const asked = async (chunks: readonly number[], headers: Record<string, string> = {}) => {
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const size = chunks[sent++]
        if (size === undefined) return new Promise(() => undefined)
        controller.enqueue(Buffer.from(" ".repeat(size)))
        return undefined
      },
    })
    const request = { method: "POST", body, headers: { host: "localhost", ...headers } }
    const response = await answer(new Request("http://pond.test/v1/get", request))
    const { error } = (await response.json()) as { readonly error: { readonly details: object } }
    return { status: response.status, ...error.details }
  }
  const refused = { status: 400, bytes_max: bytesMax }
  expect(await asked([], { "content-length": String(bytesMax + 1) })).toEqual(refused)
  expect(await asked([600, 401])).toEqual(refused)
})

// --- Lines and headers ---------------------------------------------------------------------------------------------------

test("whoever writes requests by hand gets no header of theirs back, and the server stands", async () => {
  const { hostname, port } = new URL(server.address)
  const requests = [
    "GET /v1/status HTTP/1.1\r\nhost: localhost\r\nx-pond-request-id: a\r\n set-cookie: b\r\n\r\n",
    "GET /v1/status%0d%0aset-cookie:%20b HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "GET http://evil.example/v1/status HTTP/1.1\r\nhost: evil.example\r\n\r\n",
    "GET /v1/status HTTP/1.1\r\n\r\n",
    `GET /${"a".repeat(20_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    "POST /v1/get HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n{}",
    "POST /v1/get HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "\0\0\0\0",
  ]
  for (const request of requests) {
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.write(request))
      const end = (text: string) => {
        resolve(text)
        socket.destroy()
      }
      socket.once("data", (chunk) => end(chunk.toString()))
      socket.once("close", () => end(""))
      socket.once("error", () => end(""))
      socket.setTimeout(2000, () => end(""))
    })
    const [head = ""] = answer.split("\r\n\r\n")
    expect({ request, head: /set-cookie|evil/i.exec(head)?.[0] }).toEqual({ request, head: undefined })
  }
  expect(await isAlive()).toBe(true)
})

test("text with control characters travels as JSON, where it is harmless", async () => {
  const response = await post("/v1/get", '{"protocol_version":1,"session_id":"s"}')
  const text = await response.text()
  expect(response.headers.get("content-type")).toStartWith("application/json")
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  expect(/[\u0000-\u001f]/.test(text)).toBe(false)
  expect(JSON.parse(text)).toMatchObject({ session: { title: "\u001b]0;owned\u0007" } })
})
