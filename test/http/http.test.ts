import { expect, test } from "bun:test"
import { connect } from "node:net"
import { createHttp, type HttpContext } from "../../src/http/app.ts"
import { listenOnPort } from "../../src/http/server.ts"
import type { Pond } from "../../src/operations/pond.ts"
import { OPERATIONS } from "../../src/operations/table.ts"
import { memoryPond, type TestPond } from "../operations/support.ts"
import { said, session } from "../sessions/support.ts"

interface Served extends AsyncDisposable {
  readonly box: TestPond
  readonly url: string
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
}

async function serve(context: Partial<HttpContext> = {}): Promise<Served> {
  const box = memoryPond()
  const server = await listenOnPort(createHttp({ pond: box.pond, allowedHosts: [], ...context }), "127.0.0.1", 0)
  return {
    box,
    url: server.address,
    post: (path, body, headers = {}) =>
      fetch(`${server.address}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      box[Symbol.dispose]()
    },
  }
}

const asked = (fields: object) => ({ protocol_version: 1, ...fields })

test("what is ingested over HTTP is read over HTTP", async () => {
  await using served = await serve()
  const events = [
    { kind: "session", ...session("s") },
    { kind: "message", ...said("s", 0, "").message },
    { kind: "part", ...said("s", 0, "hello").parts[0] },
  ]
  const stored = await served.post("/v1/ingest", asked({ events }))
  expect(stored.status).toBe(200)
  expect(stored.headers.get("x-pond-request-id")).toMatch(/^[0-9a-f-]{36}$/)
  expect(await stored.json()).toEqual({
    protocol_version: 1,
    results: [{ session_id: "s", status: "stored", inserted: { messages: 1, parts: 1 } }],
  })
  const read = await served.post("/v1/get", asked({ session_id: "s" }))
  expect(await read.json()).toMatchObject({ protocol_version: 1, result: { messages: [{ text: "hello" }] } })
  expect(await (await fetch(`${served.url}/v1/status`)).json()).toMatchObject({
    protocol_version: 1,
    sessions: 1,
    messages: 1,
  })
})

test("a number that a double cannot hold goes through", async () => {
  await using served = await serve()
  const body = `{"protocol_version":1,"events":[${JSON.stringify({ kind: "session", ...session("s") }).replace('"options":{}', '"options":{"source":{"cost":12345678901234567890123}}')}]}`
  expect((await served.post("/v1/ingest", body)).status).toBe(200)
  expect(JSON.stringify((await served.box.place.sessions.session("s"))?.options)).toBe(
    '{"source":{"cost":12345678901234567890123}}',
  )
})

test.each<[string, string, unknown, number, string]>([
  ["no JSON", "/v1/get", "{", 400, "validation_failed"],
  ["JSON that is no object", "/v1/get", "[]", 400, "validation_failed"],
  ["no protocol version", "/v1/get", { session_id: "s" }, 400, "validation_failed"],
  ["protocol version 0", "/v1/get", { protocol_version: 0 }, 400, "version_unsupported"],
  ["protocol version 2", "/v1/get", { protocol_version: 2 }, 400, "version_unsupported"],
  ['protocol version "1"', "/v1/get", { protocol_version: "1" }, 400, "validation_failed"],
  ["a field of another type", "/v1/get", asked({ session_id: 7 }), 400, "validation_failed"],
  ["a field that nobody knows", "/v1/get", asked({ session_id: "s", extra: 1 }), 400, "validation_failed"],
  [
    "a prototype key",
    "/v1/get",
    '{"protocol_version":1,"session_id":"s","__proto__":{"limit":3}}',
    400,
    "validation_failed",
  ],
  ["an unknown namespace", "/v1/get", asked({ namespace: "../../etc", session_id: "s" }), 403, "namespace_unknown"],
  ["a session that is not there", "/v1/get", asked({ session_id: "../../etc/passwd" }), 404, "not_found"],
  ["a route that is not there", "/v1/nothing", asked({}), 404, "not_found"],
  ["a method that is not there", "/v1/status", asked({}), 404, "not_found"],
  ["a body over the cap", "/v1/get", asked({ session_id: "x".repeat(9_000_000) }), 400, "validation_failed"],
])("%s is told in one shape", async (_, path, body, status, code) => {
  await using served = await serve()
  const response = await served.post(path, body)
  const text = await response.text()
  expect({ status: response.status, text }).toEqual({ status, text: expect.stringContaining(`"code":"${code}"`) })
  expect(JSON.parse(text)).toEqual({ error: { code, message: expect.any(String), details: expect.any(Object) } })
  expect(text).not.toMatch(/node_modules|\.ts:\d+|at async/)
  expect(response.headers.get("x-pond-request-id")).not.toBeNull()
})

test("every fault of a request is said with its path", async () => {
  await using served = await serve()
  const response = await served.post("/v1/get", asked({ session_id: "s", limit: 0, context_depth: "two" }))
  const { error } = (await response.json()) as { error: { details: { faults: { path: string }[] } } }
  expect(new Set(error.details.faults.map(({ path }) => path))).toEqual(new Set(["/limit", "/context_depth"]))
})

test.each(["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "localhost.evil"])(
  "a request under the name %j is not answered",
  async (host) => {
    await using served = await serve()
    for (const path of ["/healthz", "/v1/status", "/v1/openapi.json", "/mcp"]) {
      const response = await fetch(`${served.url}${path}`, { headers: { host } })
      expect({ path, status: response.status }).toEqual({ path, status: 400 })
    }
  },
)

test.each([
  ["GET", "/v1/search", ": /v1/search takes POST"],
  ["POST", "/v1/status", ": /v1/status takes GET"],
  ["GET", "/v1/nothing", ""],
])("%s %s is no route, and what is asked there by another method is said", async (method, path, told) => {
  await using served = await serve()
  const response = await fetch(`${served.url}${path}`, { method })
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({
    error: { message: `No such route${told}. GET /v1/openapi.json lists all routes.` },
  })
})

test("a name that was allowed is answered", async () => {
  await using served = await serve({ allowedHosts: ["pond.internal"] })
  expect((await fetch(`${served.url}/healthz`, { headers: { host: "pond.internal:9797" } })).status).toBe(200)
})

test("what a caller says the request id is does not come back", async () => {
  await using served = await serve()
  const response = await served.post("/v1/get", asked({ session_id: "s" }), {
    "x-pond-request-id": "mine%0d%0aset-cookie: a=b",
  })
  expect(response.headers.get("x-pond-request-id")).toMatch(/^[0-9a-f-]{36}$/)
  expect(response.headers.get("set-cookie")).toBeNull()
})

test("a failure that nobody planned shows nothing of itself", async () => {
  await using served = await serve({})
  const broken: Pond = {
    ...served.box.pond,
    within: () => Promise.resolve(broken),
    sessions: () => Promise.reject(new Error("password=hunter2 at /home/someone/secret.ts")),
  }
  const handler = createHttp({ pond: broken, allowedHosts: [] })
  const response = await handler(new Request("http://localhost/v1/status", { headers: { host: "localhost" } }))
  const text = await response.text()
  expect({ status: response.status, shows: /hunter2|secret/.test(text) }).toEqual({ status: 500, shows: false })
  expect(JSON.parse(text)).toMatchObject({ error: { code: "internal" } })
})

test("a body that does not arrive is given up", async () => {
  await using served = await serve({ limits: { timeoutMs: 150 } })
  const { hostname, port } = new URL(served.url)
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        "POST /v1/get HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
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

test("every operation has a route, a schema of its request and one of its answer, in one OpenAPI document", async () => {
  await using served = await serve()
  const { schemas } = (await (await fetch(`${served.url}/v1/schema`)).json()) as { schemas: string[] }
  const document = (await (await fetch(`${served.url}/v1/openapi.json`)).json()) as {
    openapi: string
    paths: Record<string, unknown>
    components: { schemas: object }
  }
  expect(document.openapi).toBe("3.1.0")
  expect(OPERATIONS.length).toBeGreaterThan(2)
  for (const { name } of OPERATIONS) {
    expect(Object.keys(document.paths)).toContain(`/v1/${name}`)
    for (const kind of ["request", "response"]) {
      expect(schemas).toContain(`${name}_${kind}`)
      const schema = await fetch(`${served.url}/v1/schema/${name}_${kind}.json`)
      expect(await schema.json()).toEqual(document.components.schemas[`${name}_${kind}` as never])
    }
  }
  expect((await fetch(`${served.url}/v1/schema/..%2f..%2fetc`)).status).toBe(404)
})

/** Of several, the least processor time: what else the process does now and then is not in it. */
async function leastMs(works: readonly (() => unknown)[]): Promise<number> {
  const took: number[] = []
  for (const work of works) {
    const from = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(from)
    took.push((user + system) / 1000)
  }
  return Math.min(...took)
}

test("who asks first whether there is a pond waits for nothing that others would not wait for", async () => {
  using box = memoryPond()
  const made: ReturnType<typeof createHttp>[] = []
  const times = Array.from({ length: 8 }, (_, at) => at)
  const making = await leastMs(times.map(() => () => made.push(createHttp({ pond: box.pond, allowedHosts: [] }))))
  const greeting = () => new Request("http://localhost/healthz", { headers: { host: "localhost" } })
  const first = await leastMs(made.map((answer) => () => answer(greeting())))
  expect(first).toBeLessThan(making / 5)
})

test("a server that stops finishes what runs", async () => {
  const box = memoryPond()
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const slow: Pond = {
    ...box.pond,
    within: () => Promise.resolve(slow),
    sessions: async () => {
      begun.resolve()
      await gate.promise
      return box.place.sessions
    },
  }
  const server = await listenOnPort(createHttp({ pond: slow, allowedHosts: [] }), "127.0.0.1", 0)
  const running = fetch(`${server.address}/v1/status`)
  await begun.promise
  const stopped = server.stop()
  gate.resolve()
  expect((await running).status).toBe(200)
  await stopped
  expect(fetch(`${server.address}/healthz`)).rejects.toThrow()
  box[Symbol.dispose]()
})

test("names of hosts are compared without their case and with or without a port, as they were allowed", async () => {
  using box = memoryPond()
  const answer = createHttp({ pond: box.pond, allowedHosts: ["Pond.Internal:8080", "other.internal"] })
  const statusOf = async (headers: Record<string, string>) =>
    (await answer(new Request("http://pond.test/healthz", { headers }))).status
  const answered = ["LOCALHOST", "[::1]:9797", "pond.internal:8080", "OTHER.internal", "other.internal:1"]
  for (const host of answered) expect({ host, status: await statusOf({ host }) }).toEqual({ host, status: 200 })
  for (const host of ["pond.internal", "pond.internal:8081"])
    expect({ host, status: await statusOf({ host }) }).toEqual({ host, status: 400 })
  const pages: [origin: string, host: string, status: number][] = [
    ["HTTPS://Other.Internal", "localhost", 200],
    ["http://pond.internal:8080", "localhost", 200],
    ["http://other.internal:9797", "other.internal:9797", 200],
    ["http://other.internal:3000", "other.internal:9797", 400],
    ["http://localhost:9797", "127.0.0.1:9797", 200],
    ["http://localhost:3000", "127.0.0.1:9797", 400],
    ["http://localhost", "localhost:9797", 400],
    ["http://localhost", "localhost:80", 200],
    ["vscode-webview://localhost:9797", "localhost:9797", 400],
  ]
  for (const [origin, host, status] of pages)
    expect({ origin, host, status: await statusOf({ host, origin }) }).toEqual({ origin, host, status })
})

test("bytes that are no text are refused, and nothing else is stored in their place", async () => {
  await using served = await serve()
  const body = JSON.stringify(asked({ events: [{ kind: "session", ...session("s", { title: "caf?" }) }] }))
  const bytes = Buffer.from(body)
  bytes[bytes.indexOf("?")] = 0xe9
  const response = await fetch(`${served.url}/v1/ingest`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: bytes,
  })
  expect({ status: response.status, text: await response.text() }).toEqual({
    status: 400,
    text: expect.stringContaining("UTF-8"),
  })
  expect(await served.box.place.sessions.session("s")).toBeUndefined()
})

test("who goes away, and who takes too long, has his operation stopped", async () => {
  using box = memoryPond()
  let begun = Promise.withResolvers<void>()
  const stopped: unknown[] = []
  const slow: Pond = {
    ...box.pond,
    within: () => Promise.resolve(slow),
    remote: (_operation, _input, signal) => {
      begun.resolve()
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          stopped.push(signal.reason.name)
          reject(signal.reason)
        })
      })
    },
  }
  const asking = (context: Partial<HttpContext>, signal?: AbortSignal) =>
    createHttp({ pond: slow, allowedHosts: [], ...context })(
      new Request("http://pond.test/v1/status", { headers: { host: "localhost" }, ...(signal && { signal }) }),
    )
  const saidOf = async (response: Response) => ({
    status: response.status,
    ...((await response.json()) as object),
  })
  expect(await saidOf(await asking({ timeoutMs: 1 }))).toMatchObject({
    status: 503,
    error: { code: "interrupted", message: "The request timed out. Request less at once." },
  })
  begun = Promise.withResolvers()
  const client = new AbortController()
  const answer = asking({}, client.signal)
  await begun.promise
  client.abort()
  expect(await saidOf(await answer)).toMatchObject({
    status: 503,
    error: { code: "interrupted", message: "The request was stopped." },
  })
  expect(stopped).toEqual(["TimeoutError", "AbortError"])
})

test("who goes away while his request arrives is no fault that is logged", async () => {
  using box = memoryPond()
  const lines: string[] = []
  const log = { ...box.pond.host.log, warn: (line: string) => void lines.push(line) }
  const answer = createHttp({ pond: { ...box.pond, host: { ...box.pond.host, log } }, allowedHosts: [] })
  const answered = Promise.withResolvers<unknown>()
  const begun = Promise.withResolvers<void>()
  const server = await listenOnPort(
    (request) => {
      const response = answer(request)
      response.then(async (made) => answered.resolve(await made.clone().json()), answered.reject)
      begun.resolve()
      return response
    },
    "127.0.0.1",
    0,
  )
  const { hostname, port } = new URL(server.address)
  const socket = connect(Number(port), hostname, () => {
    socket.write("POST /v1/get HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{")
  })
  await begun.promise
  socket.destroy()
  expect(await answered.promise).toMatchObject({ error: { code: "interrupted" } })
  await server.stop()
  expect(lines).toEqual([])
})

test("a failure that nobody planned is said where the server was started, with its place", async () => {
  using box = memoryPond()
  const lines: string[] = []
  const log = { ...box.pond.host.log, warn: (line: string) => void lines.push(line) }
  const broken: Pond = {
    ...box.pond,
    host: { ...box.pond.host, log },
    within: () => Promise.reject(new TypeError("no such thing")),
  }
  const answer = createHttp({ pond: broken, allowedHosts: [] })
  await answer(new Request("http://pond.test/v1/status", { headers: { host: "localhost" } }))
  expect(lines).toEqual([expect.stringMatching(/TypeError: no such thing\n\s+at /)])
})
