/** The page at `/`: its files are served without the token and hold nothing of the store. `bun run judge:page` asks a browser. */
import { expect, test } from "bun:test"
import { requireToken } from "../../src/http/access.ts"
import { createHttp, type HttpContext } from "../../src/http/app.ts"
import { findServer } from "../../src/http/find-server.ts"
import { PAGE_PATHS } from "../../src/http/page.ts"
import { pageAssets } from "../../src/http/page-assets.ts"
import { listenOnPort } from "../../src/http/server.ts"
import { openToken } from "../../src/http/token.ts"
import { memoryPond, type TestPond } from "../operations/support.ts"
import { said, session } from "../sessions/support.ts"

const SCRIPT_BYTES_MAX = 150 * 1024

interface Served extends AsyncDisposable {
  readonly box: TestPond
  readonly url: string
  get(path: string, headers?: Record<string, string>): Promise<Response>
}

async function serve(context: Partial<HttpContext> = {}, token?: string): Promise<Served> {
  const box = memoryPond()
  const answer = createHttp({ pond: box.pond, allowedHosts: [], hasPage: true, ...context })
  const server = await listenOnPort(token === undefined ? answer : requireToken(answer, token), "127.0.0.1", 0)
  return {
    box,
    url: server.address,
    get: (path, headers = {}) => fetch(`${server.address}${path}`, { headers }),
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      box[Symbol.dispose]()
    },
  }
}

test("the files of the page need no token, everything that is stored does", async () => {
  await using served = await serve({}, "the-token")
  for (const path of PAGE_PATHS) expect((await served.get(path)).status).toBe(200)
  expect((await served.get("/v1/status")).status).toBe(401)
  expect((await served.get("/page/other.js")).status).toBe(401)
  expect((await served.get("/v1/status", { authorization: "Bearer the-token" })).status).toBe(200)
})

test("the page loads nothing but its own files and can be framed by nobody", async () => {
  await using served = await serve()
  const response = await served.get("/")
  const policy = response.headers.get("content-security-policy") ?? ""
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain("unsafe")
  const html = await response.text()
  const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path)
  expect(new Set(named)).toEqual(new Set(PAGE_PATHS.filter((path) => path !== "/")))
  expect(html).not.toMatch(/<script(?![^>]*src=)|\sstyle=|\son\w+=/)
})

test("the script is small, names no other host and evaluates nothing", async () => {
  const { script, style } = await pageAssets()
  expect(Bun.gzipSync(Buffer.from(script + style)).length).toBeLessThan(SCRIPT_BYTES_MAX)
  const hosts = [...script.matchAll(/https?:\/\/[\w.-]+/g)]
    .map(([host]) => host)
    .filter((host) => host !== "http://www.w3.org")
  expect(hosts).toEqual([])
  expect(script).not.toMatch(/\beval\(|new Function\(/)
})

test("a browser that takes compressed files gets them so", async () => {
  await using served = await serve()
  const plain = await served.get("/page/main.js", { "accept-encoding": "identity" })
  const compressed = await served.get("/page/main.js", { "accept-encoding": "gzip" })
  expect(compressed.headers.get("content-encoding")).toBe("gzip")
  expect(await compressed.text()).toBe(await plain.text())
})

test("without the page its paths are no routes", async () => {
  await using served = await serve({ hasPage: false })
  for (const path of PAGE_PATHS) expect((await served.get(path)).status).toBe(404)
})

test("a port without a token erases nothing", async () => {
  const events = { session: session("kept"), entries: [said("kept", 0, "hello")] }
  const erase = async (served: Served) => {
    await served.box.place.sessions.write([events])
    const body = JSON.stringify({ protocol_version: 1, session_ids: ["kept"] })
    const headers = { "content-type": "application/json" }
    const response = await fetch(`${served.url}/v1/erase_sessions`, { method: "POST", body, headers })
    return { status: response.status, left: await served.box.place.sessions.session("kept") }
  }
  await using open = await serve({ isUnguarded: true })
  expect(await erase(open)).toMatchObject({ status: 401, left: { id: "kept" } })
  await using guarded = await serve()
  expect(await erase(guarded)).toEqual({ status: 200, left: undefined })
})

test("a server of this store is found by its port, another program and another store are not", async () => {
  await using box = { pond: memoryPond(), [Symbol.asyncDispose]: async () => box.pond[Symbol.dispose]() }
  const { host } = box.pond.pond
  const store = box.pond.place.sessions.store.location.shown
  const token = openToken(host).value
  const server = await listenOnPort(
    requireToken(createHttp({ pond: box.pond.pond, allowedHosts: [] }), token),
    "127.0.0.1",
    0,
  )
  const port = Number(new URL(server.address).port)
  expect(await findServer(host, port, store)).toEqual({ address: server.address, token })
  expect(await findServer(host, port, "another store")).toBeUndefined()
  await server.stop()
  expect(await findServer(host, port, store)).toBeUndefined()
  const asked: (string | null)[] = []
  const stranger = await listenOnPort(
    async (request) => {
      asked.push(request.headers.get("authorization"))
      return Response.json({ ok: true })
    },
    "127.0.0.1",
    0,
  )
  expect(await findServer(host, Number(new URL(stranger.address).port), store)).toBeUndefined()
  // It never said that it is pond, so it never saw the token.
  expect(asked).toEqual([null])
  await stranger.stop()
})
