/** A port answers who sends the token, and a socket its owner: as other processes of this machine see both. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { openToken } from "../../src/http/token.ts"
import { testPond } from "../operations/support.ts"
import { POND } from "../support/bundled-pond.ts"
import { temporaryHome } from "../support/pond-process.ts"

interface Served extends AsyncDisposable {
  readonly said: string
  readonly address: string
  readonly tokenFile: string
}

const home = temporaryHome()
afterAll(() => home[Symbol.dispose]())

async function serve(...words: readonly string[]): Promise<Served> {
  const child = Bun.spawn([process.execPath, POND, "serve", ...words], {
    env: { PATH: process.env["PATH"] ?? "", ...home.env },
    stdout: "pipe",
    stderr: "inherit",
  })
  const { value } = await child.stdout.getReader().read()
  const said = new TextDecoder().decode(value)
  return {
    said,
    address: /^Listening on (\S*)/.exec(said)?.[1] ?? "",
    tokenFile: /(\S+)\n$/.exec(said)?.[1] ?? "",
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM")
      await child.exited
    },
  }
}

let first: Served
let token: string
beforeAll(async () => {
  first = await serve("--port", "0")
  token = readFileSync(first.tokenFile, "utf8").trim()
})
afterAll(() => first[Symbol.asyncDispose]())

const EVERYTHING: readonly (readonly [path: string, init: RequestInit])[] = [
  ["/v1/status", {}],
  ["/v1/openapi.json", {}],
  ["/v1/schema", {}],
  ["/v1/sql/exports/x", {}],
  ["/nowhere", {}],
  ["/mcp", { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }],
  ...["search", "get", "sql", "export", "restore_plan", "ingest"].map(
    (name) => [`/v1/${name}`, { method: "POST", body: "{}" }] as const,
  ),
]

test("without the token nothing is answered but that pond is there", async () => {
  const guesses: Record<string, string>[] = [
    {},
    { authorization: "" },
    { authorization: "Bearer" },
    { authorization: `Bearer ${token.slice(0, -1)}` },
    { authorization: `Bearer ${token}x` },
    { authorization: `Basic ${token}` },
    { authorization: `Basic ${btoa(`${token}:`)}` },
    { authorization: `Basic ${btoa(`pond:${token}x`)}` },
    { authorization: "Bearer undefined" },
    { cookie: `token=${token}` },
  ]
  for (const [path, init] of EVERYTHING) {
    for (const headers of guesses) {
      const response = await fetch(`${first.address}${path}`, { ...init, headers })
      const { error } = (await response.json()) as { error: { code: string } }
      expect({ path, headers, status: response.status, code: error.code }).toEqual({
        path,
        headers,
        status: 401,
        code: "unauthorized",
      })
    }
  }
  expect((await fetch(`${first.address}/healthz`)).status).toBe(200)
  expect((await fetch(`${first.address}/v1/status?token=${token}`)).status).toBe(401)
})

test("a browser that knows the password sends it for no page of another site or port", async () => {
  const authorization = `Basic ${btoa(`pond:${token}`)}`
  const statuses = async (site: string) =>
    (await fetch(`${first.address}/v1/status`, { headers: { authorization, "sec-fetch-site": site } })).status
  expect(await statuses("none")).toBe(200)
  expect(await statuses("same-origin")).toBe(200)
  expect(await statuses("same-site")).toBe(400)
  expect(await statuses("cross-site")).toBe(400)
})

test("with the token, as a bearer or as a password, everything is answered, MCP too", async () => {
  const headers = { authorization: `Bearer ${token}` }
  expect((await fetch(`${first.address}/v1/status`, { headers })).status).toBe(200)
  const asPassword = { authorization: `Basic ${btoa(`pond:${token}`)}` }
  expect((await fetch(`${first.address}/v1/status`, { headers: asPassword })).status).toBe(200)
  const body = JSON.stringify({ protocol_version: 1, query: "hello" })
  const post = { method: "POST", body, headers: { "content-type": "application/json", ...headers } }
  expect((await fetch(`${first.address}/v1/search`, post)).status).toBe(200)
  const client = new Client({ name: "test", version: "0" })
  const transport = new StreamableHTTPClientTransport(new URL(`${first.address}/mcp`), { requestInit: { headers } })
  await client.connect(transport as Transport)
  expect((await client.listTools()).tools.length).toBeGreaterThan(0)
  await client.close()
})

test("the token is printed once as a link, and kept in a file that its owner alone reads", async () => {
  const link = first.address.replace("://", `://pond:${token}@`)
  expect(first.said).toStartWith(`Listening on ${first.address}\nWith its token: ${link}\n`)
  expect((statSync(first.tokenFile).mode & 0o777).toString(8)).toBe("600")
  await using second = await serve("--port", "0")
  expect(second.said).toBe(`Listening on ${second.address}\nThe token is in ${first.tokenFile}\n`)
  const headers = { authorization: `Bearer ${token}` }
  expect((await fetch(`${second.address}/v1/status`, { headers })).status).toBe(200)
})

test("a socket asks for none, and neither does a port that was told not to", async () => {
  const path = join(home.path, "own.sock")
  await using socket = await serve("--socket", path)
  expect(socket.said).toBe(`Listening on ${path}\n`)
  expect((await fetch("http://localhost/v1/status", { unix: path })).status).toBe(200)
  await using open = await serve("--port", "0", "--no-token", "--json")
  const { address, token_file } = JSON.parse(open.said) as { address: string; token_file: unknown }
  expect({ token_file, status: (await fetch(`${address}/v1/status`)).status }).toEqual({
    token_file: null,
    status: 200,
  })
})

test("a token that others could read or have written is not used", () => {
  using box = testPond()
  const { path, value } = openToken(box.pond.host)
  expect(openToken(box.pond.host)).toEqual({ path, value, isNew: false })
  chmodSync(path, 0o644)
  expect(() => openToken(box.pond.host)).toThrow("is not a token that only you can read")
  rmSync(path)
  writeFileSync(path, "guess\n", { mode: 0o600 })
  expect(() => openToken(box.pond.host)).toThrow("is not a token that only you can read")
})
