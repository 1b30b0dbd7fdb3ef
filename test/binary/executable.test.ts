import { afterAll, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { SAMPLE_SESSION_ID, writeSampleSession } from "../../build/corpus/sample-session.ts"
import { filesBelow, findingsOf, shipped, withoutNetwork } from "./support/shipped.ts"

const ENGINES = ["store engine", "embedding engine", "SQL engine", "native libraries"]
const ROOT = join(import.meta.dir, "../..")
const { version } = (await Bun.file(join(ROOT, "package.json")).json()) as { version: string }

/** Unpacked once and shared by the tests that do not care for an empty cache. */
const ready = shipped()
await ready.run("doctor")
afterAll(() => ready[Symbol.dispose]())

test("one file in an empty directory, without network, works its store, its embeddings and its SQL", async () => {
  using alone = shipped()
  const ended = await alone.runWith({ through: withoutNetwork() }, "doctor", "--json", "-q")
  const findings = findingsOf(ended)
  expect(ENGINES.map((check) => findings[check]?.status)).toEqual(ENGINES.map(() => "ok"))
  expect(findings["native libraries"]?.found).toMatch(/lancedb.*onnxruntime.*tokenizers.*duckdb/)
  expect({ code: ended.code, err: ended.err }).toEqual({ code: 0, err: "" })
  expect(filesBelow(alone.natives, ".node").length).toBe(4)
  for (const directory of [alone.natives, join(filesBelow(alone.natives, ".node")[0]!, "..")]) {
    expect(statSync(directory).mode & 0o777).toBe(0o700)
  }
})

test("--version and --help load no native library, and unpack none", async () => {
  using alone = shipped()
  expect(await alone.run("--version")).toEqual({ code: 0, out: `pond ${version}\n`, err: "" })
  expect((await alone.run("--help")).out).toContain("Usage")
  expect(existsSync(join(alone.home, ".cache"))).toBe(false)
})

test.if(Bun.which("strace") !== null)("--version opens nothing of pond's but itself", async () => {
  using alone = shipped()
  const traced = join(alone.home, "trace")
  const through = ["strace", "-f", "-e", "trace=openat,open,execve", "-o", traced]
  expect((await alone.runWith({ through }, "--version")).code).toBe(0)
  const opened = [...readFileSync(traced, "utf8").matchAll(/(?:open|openat)\([^"]*"([^"]+)"/g)].map(
    (match) => match[1]!,
  )
  expect(opened.length).toBeGreaterThan(0)
  expect(opened.filter((path) => /\.node$|onnx|duckdb|lance|\.config|node_modules/.test(path))).toEqual([])
  expect(opened.filter((path) => path.startsWith(ROOT) || path.startsWith(alone.directory))).toEqual([])
})

/** Each would write `OBEYED` if it were run or read. */
function plantTraps(directory: string): void {
  const hostile = `require("node:fs").writeFileSync(${JSON.stringify(join(directory, "OBEYED"))}, "")\n`
  writeFileSync(join(directory, "hostile.js"), hostile)
  writeFileSync(join(directory, "bunfig.toml"), 'preload = ["./hostile.js"]\n[run]\npreload = ["./hostile.js"]\n')
  writeFileSync(join(directory, ".env"), "POND_PLANTED=1\nPOND_STORE=/planted\nXDG_CACHE_HOME=/planted\n")
  writeFileSync(join(directory, ".env.local"), "XDG_DATA_HOME=/planted\n")
  writeFileSync(join(directory, "package.json"), '{"imports":{"#x":"./hostile.js"},"type":"commonjs"}')
  writeFileSync(join(directory, "tsconfig.json"), '{"compilerOptions":{"paths":{"*":["./hostile.js"]}}}')
  for (const name of ["openai", "@huggingface/transformers", "@lancedb/lancedb", "detect-libc", "onnxruntime-node"]) {
    mkdirSync(join(directory, "node_modules", name), { recursive: true })
    writeFileSync(join(directory, "node_modules", name, "index.js"), hostile)
  }
  for (const library of ["libc.so.6", "libc.so", "libonnxruntime.so.1", "libduckdb.so", "libstdc++.so.6"]) {
    writeFileSync(join(directory, library), "not a library")
  }
}

test("what lies in the directory that it is started in has no effect", async () => {
  using alone = shipped()
  plantTraps(alone.directory)
  expect((await alone.run("--version")).out).toBe(`pond ${version}\n`)
  const ended = await alone.run("doctor", "--json", "-q")
  const findings = findingsOf(ended)
  expect(Object.values(findings).filter(({ status }) => status !== "ok" && status !== "todo")).toEqual([])
  expect(findings["environment"]?.found).not.toContain("POND_PLANTED")
  expect(findings["cache directory"]?.found).toBe(join(alone.home, ".cache/pond"))
  expect(findings["data directory"]?.found).toBe(join(alone.home, ".local/share/pond"))
  expect(existsSync(join(alone.directory, "OBEYED"))).toBe(false)
})

test("no variable of the environment makes it load a file, or makes it another program", async () => {
  using alone = shipped()
  plantTraps(alone.directory)
  const file = join(alone.directory, "hostile.js")
  const environment = {
    BUN_OPTIONS: `--preload ${file}`,
    BUN_BE_BUN: "1",
    BUN_INSPECT_PRELOAD: file,
    NODE_OPTIONS: `--require ${file}`,
  }
  const { out } = await alone.runWith({ environment }, "--version")
  expect(out).toBe(`pond ${version}\n`)
  expect(existsSync(join(alone.directory, "OBEYED"))).toBe(false)
})

test("a native library that was cut short is made whole again", async () => {
  const [lance] = filesBelow(ready.natives, "lancedb.linux-x64-gnu.node").concat(filesBelow(ready.natives, ".node"))
  const { size } = statSync(lance!)
  truncateSync(lance!, 4096)
  const ended = await ready.run("doctor", "--json", "-q")
  expect({ code: ended.code, err: ended.err }).toEqual({ code: 0, err: "" })
  expect(statSync(lance!).size).toBe(size)
})

test("four processes that start at once on an empty cache all work", async () => {
  using alone = shipped()
  const ended = await Promise.all(Array.from({ length: 4 }, () => alone.run("doctor", "--json", "-q")))
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  expect(filesBelow(alone.natives, ".node").length).toBe(4)
  expect(filesBelow(alone.natives, ".draft")).toEqual([])
})

test("a cache that cannot be written is one line that names the place and what to do, and exit code 5", async () => {
  using alone = shipped()
  writeFileSync(join(alone.home, ".cache"), "a file in the way")
  writeSampleSession(alone.home)
  const { code, out, err } = await alone.run("sync", "claude-code")
  expect({ code, out }).toEqual({ code: 5, out: "" })
  expect(err).toMatch(/^pond: .*XDG_CACHE_HOME.*\n$/)
  expect(err).toContain(alone.natives)
  const asDocument = await alone.run("sync", "claude-code", "--json")
  expect(asDocument.code).toBe(5)
  expect(JSON.parse(asDocument.out)).toMatchObject({ error: { code: "storage_unavailable" } })
})

test("what could not be unpacked for a while is unpacked once it can be, by the process that asked first", async () => {
  using alone = shipped()
  writeSampleSession(alone.home)
  expect((await alone.run("sync", "claude-code")).code).toBe(0)
  const cache = join(alone.home, ".cache")
  rmSync(cache, { recursive: true })
  writeFileSync(cache, "a file in the way")
  const agent = new Client({ name: "agent", version: "1" })
  const env = { HOME: alone.home, PATH: "/usr/bin:/bin" }
  await agent.connect(new StdioClientTransport({ command: alone.path, args: ["mcp"], env, stderr: "ignore" }))
  const ask = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify(await agent.callTool({ name, arguments: args }).catch(String))
  const questions = [
    ["pond_search", { query: "charged" }],
    ["pond_sql_query", { sql: "select 1 as one" }],
  ] as const
  for (const [name, args] of [...questions, ...questions]) expect(await ask(name, args)).toContain("XDG_CACHE_HOME")
  rmSync(cache)
  for (const [name, args] of questions) expect(await ask(name, args)).not.toMatch(/XDG_CACHE_HOME|does not know/)
  await agent.close()
})

test("unpacking leaves nothing in the memory of whoever asked for it, and little of the engine in that of others", async () => {
  using alone = shipped()
  writeSampleSession(alone.home)
  const heldMb = async () => {
    const child = Bun.spawn([alone.path, "sync", "claude-code", "--full"], {
      env: { HOME: alone.home, PATH: "/usr/bin:/bin" },
      stdio: ["ignore", "ignore", "ignore"],
    })
    expect(await child.exited).toBe(0)
    return Number(child.resourceUsage()?.maxRSS) / 1e6
  }
  // 440 to 484 MB where it did it itself, 304 so.
  expect(await heldMb()).toBeWithin(100, 390)
  // 203 MB where the engine was written in large pieces, 113 so.
  expect(await heldMb()).toBeWithin(60, 160)
})

test("where no other process can be started, pond unpacks its libraries itself", async () => {
  using alone = shipped()
  writeSampleSession(alone.home)
  expect((await alone.run("sync", "claude-code")).code).toBe(0)
  const agent = new Client({ name: "agent", version: "1" })
  const env = { HOME: alone.home, PATH: "/usr/bin:/bin" }
  await agent.connect(new StdioClientTransport({ command: alone.path, args: ["mcp"], env, stderr: "ignore" }))
  rmSync(join(alone.home, ".cache"), { recursive: true })
  // As after an update: the process runs on, and its file is gone.
  rmSync(alone.path)
  const answer = await agent.callTool({ name: "pond_search", arguments: { query: "charged" } })
  expect(JSON.stringify(answer)).toContain("no matches")
  expect(filesBelow(alone.natives, ".node").length).toBe(1)
  await agent.close()
})

/** Takes the right to run code away from the cache, for the program that follows. */
const MOUNT = 'mount -t tmpfs -o noexec none "$HOME/.cache" && exec "$@"'
const NO_EXEC = ["unshare", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh"]

function maySetNoExec(): boolean {
  using tried = shipped()
  mkdirSync(join(tried.home, ".cache"))
  return Bun.spawnSync([...NO_EXEC, "true"], { env: { HOME: tried.home, PATH: "/usr/bin:/bin" } }).success
}

test.if(maySetNoExec())("a cache on a file system that forbids running code is one line that says so", async () => {
  using alone = shipped()
  mkdirSync(join(alone.home, ".cache"))
  writeSampleSession(alone.home)
  const { code, err } = await alone.runWith({ through: NO_EXEC }, "sync", "claude-code")
  expect(code).toBe(5)
  expect(err).toMatch(/^pond: Cannot load .*lancedb.*does not allow running code: set XDG_CACHE_HOME.*\n$/)
})

test("a session goes through the store and comes back, from that one file", async () => {
  writeSampleSession(ready.home)
  expect((await ready.runWith({ through: withoutNetwork() }, "sync", "claude-code", "--json")).code).toBe(0)
  const root = join(ready.directory, "restored")
  const restored = await ready.run("restore", SAMPLE_SESSION_ID, "--root", root, "--json")
  expect(restored.code).toBe(0)
  const [was, is] = [join(ready.home, ".claude"), root].map((place) =>
    readFileSync(filesBelow(place, ".jsonl")[0]!, "utf8"),
  )
  expect(is).toBe(was!)
})

test("a stack names the files and lines of the source", async () => {
  const ended = await ready.run("config", "--config", ready.directory, "-v")
  expect(ended.code).toBe(2)
  const frames = [...ended.err.matchAll(/at (\w+) \((src\/[\w/.-]+\.ts):(\d+):\d+\)/g)]
  expect(frames.length).toBeGreaterThan(2)
  const [, name, file, line] = frames.find(([, caller]) => caller === "readConfigFile")!
  expect({ name, file }).toEqual({ name: "readConfigFile", file: "src/platform/config/config.ts" })
  const source = readFileSync(join(ROOT, file!), "utf8").split("\n")[Number(line) - 1]
  expect(source).toContain("readFileSync(")
})

test("the file carries no path of the machine that built it", () => {
  const found = Bun.spawnSync(["grep", "-c", "--text", "--fixed-strings", `${ROOT}/`, join(ROOT, "dist/pond")])
  expect(found.stdout.toString().trim()).toBe("0")
})
