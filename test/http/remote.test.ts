import { expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { createRemote, rendezvousPath } from "../../src/http/remote.ts"
import { perform } from "../../src/operations/operation.ts"
import { sql } from "../../src/operations/sql/sql.ts"
import { VERSION } from "../../src/platform/host/version.ts"
import { type TestPond, testPond } from "../operations/support.ts"
import { said, session } from "../sessions/support.ts"
import { POND } from "../support/bundled-pond.ts"

/** Real processes around one store: one that serves, or something that only looks like it, and those that ask. */
const ALONE = "Where a pond works alone it says hello"

interface House extends AsyncDisposable {
  readonly box: TestPond
  readonly socket: string
  readonly environment: Record<string, string>
  /** What a process printed, and what it said of the way it went. */
  pond(...words: string[]): Promise<{ readonly out: string; readonly err: string; readonly code: number }>
  serve(): Promise<Bun.Subprocess>
  /** An agent's process, from when others may ask it. */
  mcp(): Promise<Bun.Subprocess<"pipe", "ignore", "pipe">>
}

async function house(): Promise<House> {
  const box = testPond()
  await box.place.sessions.write([{ session: session("s"), entries: [said("s", 0, ALONE)] }])
  const environment = {
    HOME: box.place.path,
    XDG_STATE_HOME: `${box.place.path}/state`,
    XDG_CACHE_HOME: `${box.place.path}/cache`,
    POND_STORE: box.place.path,
  }
  const socket = rendezvousPath(box.pond.host, box.place.path) ?? ""
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 })
  const started: Bun.Subprocess[] = []
  return {
    box,
    socket,
    environment,
    pond: async (...words) => {
      const child = Bun.spawn([process.execPath, POND, ...words], { env: environment, stdout: "pipe", stderr: "pipe" })
      const [out, err, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ])
      return { out, err, code }
    },
    serve: async () => {
      const child = Bun.spawn([process.execPath, POND, "serve", "--port", "0"], {
        env: environment,
        stdout: "pipe",
        stderr: "inherit",
      })
      started.push(child)
      const { value } = await child.stdout.getReader().read()
      expect(new TextDecoder().decode(value)).toStartWith("Listening on http://127.0.0.1:")
      return child
    },
    mcp: async () => {
      const child = Bun.spawn([process.execPath, POND, "-v", "mcp"], {
        env: environment,
        stdin: "pipe",
        stdout: "ignore",
        stderr: "pipe",
      })
      started.push(child)
      const { value } = await child.stderr.getReader().read()
      expect(new TextDecoder().decode(value)).toContain("Answering other pond processes")
      return child
    },
    [Symbol.asyncDispose]: async () => {
      for (const child of started) child.kill()
      await Promise.all(started.map((child) => child.exited))
      box[Symbol.dispose]()
    },
  }
}

const ANSWERED = "The running server of this store answered"

test("where a pond serves the store it is asked, and answers as one that works alone", async () => {
  await using at = await house()
  const alone = await at.pond("-v", "get", "s", "--json")
  expect({ code: alone.code, said: alone.err.includes(ANSWERED) }).toEqual({ code: 0, said: false })
  const server = await at.serve()
  expect((statSync(at.socket).mode & 0o777).toString(8)).toBe("600")
  expect((statSync(dirname(at.socket)).mode & 0o777).toString(8)).toBe("700")
  const asked = await at.pond("-v", "get", "s", "--json")
  expect({ out: asked.out, said: asked.err.includes(`${ANSWERED} get`) }).toEqual({ out: alone.out, said: true })
  const query = await at.pond("-v", "sql", "select count(*) n from messages", "--format", "csv")
  expect({ out: query.out, said: query.err.includes(`${ANSWERED} sql`) }).toEqual({ out: "n\r\n1\r\n", said: true })
  const absent = await at.pond("-v", "get", "nowhere", "--tree", "--json")
  expect({ code: absent.code, said: absent.err.includes(ANSWERED) }).toEqual({ code: 3, said: false })
  expect(JSON.parse(absent.out)).toMatchObject({ error: { code: "not_found", details: { session_id: "nowhere" } } })
  server.kill("SIGTERM")
  await server.exited
  expect(existsSync(at.socket)).toBe(false)
}, 60_000)

test("the socket of a server that was killed is in nobody's way", async () => {
  await using at = await house()
  const server = await at.serve()
  server.kill("SIGKILL")
  await server.exited
  expect(existsSync(at.socket)).toBe(true)
  const asked = await at.pond("-v", "get", "s")
  expect({
    code: asked.code,
    alone: asked.err.includes("Not using the running server: the socket is dead"),
    text: asked.out.includes(ALONE),
  }).toEqual({ code: 0, alone: true, text: true })
  await at.serve()
  expect((await at.pond("-v", "get", "s")).err).toContain(ANSWERED)
}, 60_000)

test("an agent's process asks the one that serves, and goes on alone when that ends", async () => {
  await using at = await house()
  const server = await at.serve()
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [POND, "-v", "mcp"],
    env: at.environment,
    stderr: "pipe",
  })
  let heard = ""
  const hearing = Promise.withResolvers<void>()
  transport.stderr?.on("data", (chunk: Buffer) => {
    heard += chunk.toString()
    if (heard.includes(`${ANSWERED} get`)) hearing.resolve()
  })
  const client = new Client({ name: "test", version: "0" })
  await client.connect(transport)
  const read = async () => JSON.stringify(await client.callTool({ name: "pond_get", arguments: { session_id: "s" } }))
  const first = await read()
  expect(first).toContain(ALONE)
  // It comes by another pipe than the answer, and may come after it.
  await hearing.promise
  server.kill("SIGTERM")
  await server.exited
  heard = ""
  const second = await read()
  await client.close()
  expect({ same: second === first, asked: heard.includes(ANSWERED) }).toEqual({ same: true, asked: false })
}, 60_000)

/** What a person asks every day. */
const EVERYDAY: readonly (readonly string[])[] = [
  ["search", "hello"],
  ["search", "hello", "--mode", "exact", "--json"],
  ["search", "nobodywrotethis", "--json"],
  ["get", "s"],
  ["get", "s", "--tree", "--json"],
  ["list", "--json"],
  ["files", "s", "--json"],
  ["cost", "--json"],
  ["stats", "--json"],
  ["status", "--quick", "--json"],
  ["sql", "select id from sessions", "--format", "csv"],
]

test("an agent's process answers everyday commands, byte for byte as they answer alone", async () => {
  await using at = await house()
  const alone = await answers(at, EVERYDAY)
  const agent = await at.mcp()
  const asked = await answers(at, EVERYDAY)
  expect(asked.map(({ out, code }) => ({ out, code }))).toEqual(alone.map(({ out, code }) => ({ out, code })))
  expect(alone.filter(({ err }) => err.includes(ANSWERED))).toEqual([])
  const unasked = EVERYDAY.filter((_, place) => asked[place]?.err.includes(ANSWERED) !== true)
  expect(unasked).toEqual([])
  agent.stdin.end()
  expect(await agent.exited).toBe(0)
  expect(readdirSync(dirname(at.socket))).toEqual([])
}, 60_000)

async function answers(at: House, commands: readonly (readonly string[])[]) {
  const printed: Awaited<ReturnType<House["pond"]>>[] = []
  for (const words of commands) printed.push(await at.pond("-v", ...words))
  return printed
}

test("a command with other settings does not ask a process that would answer otherwise", async () => {
  await using at = await house()
  await at.mcp()
  expect((await at.pond("-v", "get", "s")).err).toContain(ANSWERED)
  const config = join(at.box.place.path, "other.toml")
  writeFileSync(config, "[recall]\ntokens = 123\n")
  const { err, out } = await at.pond("-v", "--config", config, "get", "s")
  expect({ said: err.includes(ANSWERED), text: out.includes(ALONE) }).toEqual({ said: false, text: true })
}, 60_000)

test("where the agent's process that answers ends, another one answers in its place", async () => {
  await using at = await house()
  const first = await at.mcp()
  const transport = new StdioClientTransport({ command: process.execPath, args: [POND, "mcp"], env: at.environment })
  const client = new Client({ name: "test", version: "0" })
  await client.connect(transport)
  first.kill("SIGKILL")
  await first.exited
  await client.callTool({ name: "pond_get", arguments: { session_id: "s" } })
  expect((await at.pond("-v", "get", "s")).err).toContain(`${ANSWERED} get`)
  await client.close()
}, 60_000)

/** Things that listen at the place where pond looks, and are no pond that it can use. */
const IMPOSTORS: readonly (readonly [
  what: string,
  listen: (socket: string) => { stop(isForced: boolean): unknown },
  says: string,
])[] = [
  [
    "another version",
    (unix) => Bun.serve({ unix, fetch: () => Response.json({ ok: true, version: "0.0.1", protocol_version: 1 }) }),
    "is another version (0.0.1)",
  ],
  [
    "that never answers",
    (unix) => Bun.serve({ unix, fetch: () => new Promise<Response>(() => undefined) }),
    "did not answer within 500 ms",
  ],
  [
    "that says nothing of itself",
    (unix) => Bun.serve({ unix, fetch: () => new Response("hello") }),
    "the socket is dead",
  ],
  [
    "that answers no JSON where it is asked",
    (unix) =>
      Bun.serve({
        unix,
        fetch: ({ url }) =>
          url.endsWith("/healthz") ? Response.json({ ok: true, version: VERSION }) : new Response("<html>"),
      }),
    "it has stopped",
  ],
  [
    "that fails with an error that is none of ours",
    (unix) =>
      Bun.serve({
        unix,
        fetch: ({ url }) =>
          url.endsWith("/healthz")
            ? Response.json({ ok: true, version: VERSION })
            : Response.json({ error: { code: "__proto__" } }, { status: 500 }),
      }),
    "it has stopped",
  ],
  [
    "that closes without an answer",
    (unix) => Bun.listen({ unix, socket: { open: (socket) => void socket.end(), data: () => undefined } }),
    "the socket is dead",
  ],
]

test.each(IMPOSTORS)(
  "beside a server %s pond works alone",
  async (_, listen, says) => {
    await using at = await house()
    const impostor = listen(at.socket)
    const { out, err, code } = await at.pond("-v", "get", "s")
    expect({ code, text: out.includes(ALONE), says: err.includes(says) ? says : err }).toEqual({
      code: 0,
      text: true,
      says,
    })
    await impostor.stop(true)
  },
  60_000,
)

test("who stops what another process was asked is told so, whatever the reason was", async () => {
  await using at = await house()
  await at.serve()
  const remote = createRemote({ host: at.box.pond.host, sockets: [at.socket], namespace: () => "local" })
  const stop = new AbortController()
  const asked = perform(sql, { pond: { ...at.box.pond, remote }, signal: stop.signal }, { sql: "SELECT 1" })
  stop.abort("not needed any more")
  await expect(asked).rejects.toMatchObject({ code: "interrupted" })
})

test("a read without a body asks for the caller's namespace", async () => {
  await using at = await house()
  expect((await at.pond("namespace", "create", "team-a")).code).toBe(0)
  await at.serve()
  const asked = await at.pond("-v", "--namespace", "team-a", "status", "--quick", "--json")
  expect(asked.err).toContain(`${ANSWERED} status`)
  expect(JSON.parse(asked.out)).toMatchObject({ namespace: "team-a", sessions: 0 })
})

test("what is no socket at the place of the socket is not asked", async () => {
  await using at = await house()
  symlinkSync("/dev/null", at.socket)
  const { err, code } = await at.pond("-v", "get", "s")
  expect({ code, said: err.includes("is not a socket of this user") }).toEqual({ code: 0, said: true })
}, 60_000)

test("a store has one place to meet, and one whose name would be too long has none", () => {
  using box = testPond()
  const { host } = box.pond
  expect(rendezvousPath(host, "/a")).not.toBe(rendezvousPath(host, "/b") ?? "")
  expect(rendezvousPath(host, "/a")).toBe(rendezvousPath(host, "/a") ?? "")
  expect(rendezvousPath({ ...host, path: () => `/${"long/".repeat(30)}` }, "/a")).toBeUndefined()
})

test("a store that was removed and filled again while a pond serves it is the one that is read", async () => {
  await using at = await house()
  const { place } = at.box
  for (const id of ["b", "c"]) await place.sessions.write([{ session: session(id), entries: [said(id, 0, "first")] }])
  await at.serve()
  expect((await at.pond("-v", "get", "c")).err).toContain(`${ANSWERED} get`)
  for (const name of readdirSync(place.path))
    if (name.endsWith(".lance") || name === ".pond") rmSync(join(place.path, name), { recursive: true })
  await place.open().write([{ session: session("n"), entries: [said("n", 0, "second")] }])
  const found = await at.pond("-v", "get", "n")
  expect({ out: found.out.includes("second"), said: found.err.includes(`${ANSWERED} get`) }).toEqual({
    out: true,
    said: true,
  })
  const counted = await at.pond("sql", "select id from sessions", "--format", "csv")
  expect(counted.out).toBe("id\r\nn\r\n")
}, 60_000)
