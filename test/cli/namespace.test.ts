/** The tenants of a store, from the command line and over HTTP: whoever names one sees it alone. */
import { expect, test } from "bun:test"
import { POND } from "../support/bundled-pond.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

async function served(home: { readonly env: Readonly<Record<string, string>> }, ...args: readonly string[]) {
  const child = Bun.spawn([process.execPath, POND, "serve", "--port", "0", "--no-token", "--json", ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...home.env },
    stdout: "pipe",
    stderr: "inherit",
  })
  const reader = child.stdout.getReader()
  const { address } = JSON.parse(new TextDecoder().decode((await reader.read()).value)) as { address: string }
  const post = async (operation: string, body: object) => {
    const response = await fetch(`${address}/v1/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ protocol_version: 1, ...body }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return {
    post,
    status: async () => (await (await fetch(`${address}/v1/status`)).json()) as Record<string, unknown>,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM")
      await child.exited
    },
  }
}

const SESSION = {
  kind: "session",
  id: "s",
  source_agent: "test-client",
  created_at: "2026-01-31T12:00:00.000Z",
  project: "/home/someone/work",
  options: {},
}

test("a namespace that was made holds what is sent to it, and no other sees it", async () => {
  using home = temporaryHome()
  const made = await runPond(["namespace", "create", "team a/b", "--json"], { env: home.env })
  expect(JSON.parse(made.stdout)).toEqual({ protocol_version: 1, namespace: "team a/b", created: true })
  {
    await using server = await served(home)
    const sent = await server.post("ingest", { namespace: "team a/b", events: [SESSION] })
    expect(sent).toMatchObject({ status: 200, body: { results: [{ session_id: "s", status: "stored" }] } })
    expect((await server.post("get", { namespace: "team a/b", session_id: "s" })).status).toBe(200)
    expect((await server.post("get", { session_id: "s" })).status).toBe(404)
    expect((await server.post("get", { namespace: "local", session_id: "s" })).status).toBe(404)
    const unknown = await server.post("get", { namespace: "team", session_id: "s" })
    expect(unknown).toMatchObject({ status: 403, body: { error: { code: "namespace_unknown" } } })
    expect(await server.status()).toMatchObject({ namespace: "local", sessions: 0 })
  }
  await using tenant = await served(home, "--namespace", "team a/b")
  expect(await tenant.status()).toMatchObject({ namespace: "team a/b", sessions: 1 })
  expect((await tenant.post("get", { session_id: "s" })).status).toBe(200)
  const other = await tenant.post("get", { namespace: "local", session_id: "s" })
  expect(other).toMatchObject({ status: 403, body: { error: { code: "namespace_unknown" } } })
}, 60_000)

test("namespaces are listed with the one that is the store itself, and made once", async () => {
  using home = temporaryHome()
  const run = async (...args: string[]) => JSON.parse((await runPond([...args, "--json"], { env: home.env })).stdout)
  expect(await run("namespace", "list")).toEqual({ protocol_version: 1, namespaces: [{ namespace: "local" }] })
  expect(await run("namespace", "create", "\u001b[31mred")).toMatchObject({ created: true })
  expect(await run("namespace", "create", "\u001b[31mred")).toMatchObject({ created: false })
  expect(await run("namespace", "create", "local")).toMatchObject({ created: false })
  expect((await run("namespace", "list")).namespaces).toEqual([
    { namespace: "local" },
    { namespace: "\u001b[31mred", created_at: expect.stringMatching(/^2\d{3}-.*Z$/) },
  ])
  const words = await runPond(["namespace", "list"], { env: home.env })
  expect(words.stdout).toContain("red")
  expect(words.stdout).not.toContain("\u001b[31m")
}, 60_000)

/** Each with its own word, and another number of sessions and messages. */
function eventsOf(word: string, count: number): object[] {
  return Array.from({ length: count }, (_, index) => {
    const id = `${word}-${index}`
    const message = { session_id: id, id: `${id}-m`, ordinal: 0, timestamp: "2026-01-31T12:00:01.000Z", options: {} }
    const part = { id: `${id}-p`, session_id: id, message_id: `${id}-m`, provenance: "conversational", options: {} }
    return [
      { ...SESSION, id, project: `/work/${word}` },
      { kind: "message", role: "user", ...message },
      { kind: "part", type: "text", text: `only ${word} says this`, ...part },
    ]
  }).flat()
}

const READS: readonly (readonly string[])[] = [
  ["status"],
  ["stats", "--by", "project"],
  ["list"],
  ["search", "says"],
  ["sql", "select count(*) as n, min(project) as p from sessions"],
]

test("every read through a running server is of the namespace that was asked for", async () => {
  using home = temporaryHome()
  const tenants = { otters: 2, badgers: 3 }
  for (const name of Object.keys(tenants)) await runPond(["namespace", "create", name], home)
  await using server = await served(home)
  for (const [name, count] of Object.entries(tenants))
    expect((await server.post("ingest", { namespace: name, events: eventsOf(name, count) })).status).toBe(200)
  for (const read of READS) {
    const { stdout, exitCode } = await runPond([...read, "--namespace", "otters", "--json"], home)
    const shown = `${read.join(" ")}: ${stdout}`
    expect([exitCode, stdout.includes("otters"), stdout.includes("badgers")], shown).toEqual([0, true, false])
  }
  for (const [name, count] of Object.entries(tenants)) {
    const stats = JSON.parse((await runPond(["stats", "--namespace", name, "--json"], home)).stdout)
    expect(stats).toMatchObject({ sessions: count, count })
    expect(await resourceOf(home, name)).toMatchObject({ namespace: name, sessions: count })
  }
  // Without a name it is the store's own, which holds nothing.
  expect(JSON.parse((await runPond(["stats", "--json"], home)).stdout)).toMatchObject({ sessions: 0, count: 0 })
})

/** `stats://pond`, as an agent reads it over stdio. */
async function resourceOf(home: { readonly env: Readonly<Record<string, string>> }, namespace: string) {
  const requests = [
    {
      ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "resources/read", params: { uri: "stats://pond" } },
  ]
  const child = Bun.spawn([process.execPath, POND, "mcp", "--namespace", namespace], {
    env: { PATH: process.env["PATH"] ?? "", ...home.env },
    stdin: "pipe",
    stdout: "pipe",
  })
  child.stdin.write(requests.map((each) => `${JSON.stringify(each)}\n`).join(""))
  child.stdin.flush()
  let said = ""
  for await (const bytes of child.stdout) {
    said += new TextDecoder().decode(bytes)
    if (said.includes('"id":2')) break
  }
  child.stdin.end()
  await child.exited
  const line = said.split("\n").find((each) => each.includes('"id":2')) ?? "{}"
  return JSON.parse(JSON.parse(line).result.contents[0].text) as unknown
}
