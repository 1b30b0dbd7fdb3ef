/** The tenants of a store, from the command line and over HTTP: whoever names one sees it alone. */
import { expect, test } from "bun:test"
import { POND } from "../support/bundled-pond.ts"
import { runPond, temporaryHome } from "../support/pond-process.ts"

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
