/**
 * The README and the guide are held to pond: their commands run, the screen is what pond prints, the verbs, clients and
 * codes are those there are.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { writeDemo } from "../../build/corpus/demo.ts"
import { findVerb } from "../../src/cli/frame/parse-arguments.ts"
import { VERBS } from "../../src/cli/registry.ts"
import { ERROR_TABLE } from "../../src/model/errors.ts"
import { POND } from "../support/bundled-pond.ts"
import { type ObjectServer, startObjectServer, TEST_KEY } from "../support/object-server.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"

const ROOT = join(import.meta.dir, "../..")
const README = readFileSync(join(ROOT, "README.md"), "utf8")
const GUIDE = readFileSync(join(ROOT, ".github/GUIDE.md"), "utf8")
const SESSION = "de300001-0000-4000-8000-000000000000"
const MESSAGE = "de311000-0000-4000-8000-000000000000"
/** Done, but a source or a check was not whole: a machine of a test has no clients. */
const DONE = [0, 4]

/** The lines of the blocks of one kind, in order: those of the README, then those of the guide. */
function commands(kind: string): string[] {
  const blocks = [...`${README}\n${GUIDE}`.matchAll(/^```(sh[^\n]*)\n(.*?)^```/gms)].filter(
    ([, found]) => found === kind,
  )
  return blocks.flatMap(([, , body]) => (body ?? "").split("\n").filter((line) => line !== ""))
}

let home: TemporaryHome
let env: Record<string, string>

beforeAll(() => {
  home = temporaryHome()
  writeDemo(home.path)
  const bin = join(home.path, "bin")
  mkdirSync(bin)
  mkdirSync(join(home.path, "here"))
  const pond = join(bin, "pond")
  writeFileSync(pond, `#!/bin/sh\nexec "${process.execPath}" "${POND}" "$@"\n`)
  chmodSync(pond, 0o755)
  writeFileSync(join(bin, "claude"), "#!/bin/sh\nexit 0\n", { mode: 0o755 })
  env = { ...home.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` }
})
afterAll(() => home[Symbol.dispose]())

async function shell(line: string, variables = env) {
  const child = Bun.spawn(["sh", "-c", line], {
    cwd: join(home.path, "here"),
    env: variables,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { line, stdout, stderr, exitCode: await child.exited }
}

test("every command of the README and the guide runs, in its order", async () => {
  const lines = commands("sh").filter((line) => line.startsWith("pond "))
  expect(lines.length).toBeGreaterThan(15)
  for (const line of lines) {
    const ran = await shell(line.replace("SESSION", SESSION).replace("MESSAGE", MESSAGE))
    expect({ ...ran, isDone: DONE.includes(ran.exitCode) }).toMatchObject({ isDone: true })
  }
  const [, screen = ""] = /^```text\n\$ pond search charged twice\n(.*?)^```/ms.exec(README) ?? []
  const { stdout } = await shell("pond search charged twice")
  expect(yearless(stdout)).toBe(yearless(screen))
}, 120_000)

/** A day of another year is said with its year. */
function yearless(text: string): string {
  return text.replace(/(\d+ [A-Z][a-z]{2}) \d{4}/g, "$1")
}

describe("the hosted pond of the guide", () => {
  let server: ObjectServer
  beforeAll(async () => {
    server = await startObjectServer({ buckets: ["acme"] })
  })
  afterAll(() => server.stop())

  test("two namespaces, two servers and a sync from a third machine: each finds its own and nothing else", async () => {
    const cloud: Record<string, string> = {
      ...env,
      AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId,
      AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey,
      AWS_ENDPOINT_URL: server.url,
      AWS_REGION: "us-east-1",
      AWS_ALLOW_HTTP: "true",
    }
    const tokenFile = join(cloud["HOME"] ?? "", ".local/state/pond/token")
    const servers: Bun.Subprocess<"ignore", "pipe", "inherit">[] = []
    const addresses = new Map<string, string>()
    let found = ""
    try {
      for (const line of commands("sh hosted")) {
        if (line.endsWith(" &")) {
          const [port = ""] = /\d{4}/.exec(line) ?? []
          const words = line.slice("pond ".length, -" &".length).replace(port, "0").split(" ")
          const child = Bun.spawn([process.execPath, POND, ...words], {
            env: cloud,
            stdin: "ignore",
            stdout: "pipe",
            stderr: "inherit",
          })
          servers.push(child)
          addresses.set(`http://127.0.0.1:${port}`, await firstAddress(child.stdout))
          continue
        }
        const own = [...addresses].reduce((text, [written, real]) => text.replace(written, real), line)
        if (own.startsWith("curl ")) {
          found = await curled(own, tokenFile)
          continue
        }
        expect(await shell(own, cloud)).toMatchObject({ exitCode: 0 })
      }
      expect(servers).toHaveLength(2)
      expect(JSON.parse(found)).toMatchObject({ sessions: [{ session_id: SESSION }], matched_total: 2 })
      const [, other = ""] = [...addresses.values()]
      const ask = (body: object) =>
        fetch(`${other}/v1/search`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
          },
          body: JSON.stringify({ protocol_version: 1, query: "charged twice", ...body }),
        })
      expect(await (await ask({})).json()).toMatchObject({ sessions: [], matched_total: 0 })
      expect((await ask({ namespace: "nobody" })).status).toBe(403)
    } finally {
      for (const child of servers) child.kill()
      await Promise.all(servers.map((child) => child.exited))
    }
  }, 120_000)
})

/** What the command would fetch, for machines without it. */
async function curled(line: string, tokenFile: string): Promise<string> {
  const token = readFileSync(tokenFile, "utf8").trim()
  const told = line.replace("$(cat ~/.local/state/pond/token)", token)
  const [, url = "", body = ""] = /^curl -s (\S+) .*-d '([^']+)'$/.exec(told) ?? []
  const headers = Array.from(told.matchAll(/-H (["'])(.*?): (.*?)\1/g), ([, , name = "", value = ""]) => [name, value])
  return await (await fetch(url, { method: "POST", headers: Object.fromEntries(headers), body })).text()
}

async function firstAddress(out: ReadableStream<Uint8Array>): Promise<string> {
  const reader = out.getReader()
  let said = ""
  while (!said.includes("\n")) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the server ended and said: ${said}`)
    said += new TextDecoder().decode(value)
  }
  reader.releaseLock()
  return /^Listening on (http:\/\/[^/\s]+)/.exec(said)?.[1] ?? ""
}

test("the table of the guide names every verb, or its group, and none that is not there", () => {
  const [, table = ""] = /^\| verb +\|.*?\n(.*?)\n\n/ms.exec(`${GUIDE}\n`) ?? []
  const named = [...table.matchAll(/`pond ([^`]+)`/g)].map(([, words]) => words ?? "")
  for (const words of named) expect(findVerb(words.split(" "), VERBS)?.row.name).toBe(words)
  const groups = (names: readonly string[]) => new Set(names.map((name) => name.split(" ")[0]))
  expect(groups(named)).toEqual(groups(VERBS.map(({ name }) => name)))
})

test("the guide has every code of the table of errors, with its exit code", () => {
  const rows = [...GUIDE.matchAll(/^\| `([a-z_]+)` *\| +(\d+) *\|/gm)].map(([, code, exit]) => [code, Number(exit)])
  const codes = Object.entries(ERROR_TABLE).map(([code, { exit }]) => [code, exit])
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(codes))
  expect(rows).toHaveLength(codes.length)
})

interface ListedClient {
  readonly title: string
  readonly roots: readonly { readonly path: string }[]
  readonly verified_versions: { readonly from: string; readonly to: string }
  readonly judged_by: string
  readonly judged_on: string
  readonly converts: boolean
}

async function listedClients(): Promise<readonly ListedClient[]> {
  const { stdout } = await shell("pond adapters list --json")
  return (JSON.parse(stdout) as { adapters: ListedClient[] }).adapters
}

const eraOf = ({ verified_versions: { from, to } }: ListedClient) => (from === to ? from : `${from} to ${to}`)

/** The cells of the first table whose head begins so. */
function tableIn(text: string, head: RegExp): string[][] {
  const [, table = ""] = new RegExp(`^${head.source}.*?\\n.*?\\n(.*?)\\n\\n`, "ms").exec(text) ?? []
  return table.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

test("the README has every client, with its directories and the versions that were verified", async () => {
  const adapters = await listedClients()
  const wanted = adapters.map((each) => [
    each.title,
    each.roots.map(({ path }) => `\`${path.replace(home.path, "~")}\``).join(", "),
    eraOf(each),
  ])
  expect(tableIn(README, /\| client +\| sessions from/)).toEqual(wanted)
  // What no client judged is nothing that sessions of others are converted into for certain.
  expect(adapters.filter((each) => each.judged_by === "client" && !each.converts).map(({ title }) => title)).toEqual([])
  // Without a directory for all of its sessions a client is written to only where they lie in projects.
  const homeless = adapters.filter(({ roots, converts }) => roots.length === 0 && converts)
  expect(homeless.map(({ title }) => title)).toEqual(["aider"])
})

test("the guide says how each client was judged", async () => {
  const wanted = (await listedClients()).map((each) => {
    return [each.title, eraOf(each), each.converts ? "yes" : "no", each.judged_by, each.judged_on]
  })
  expect(tableIn(GUIDE, /\| client +\| eras/)).toEqual(wanted)
})
