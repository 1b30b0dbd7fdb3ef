/** Trials of what desktop clients and the registry of MCP servers take. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Compile } from "typebox/schema"
import type { Outcome } from "../lib/outcome.ts"
import { fileOf, mustRun, networkVariables, outcome, run, scratchFolder, TRIAL_CACHE, type Trial } from "./trial.ts"

const MCPB = "@anthropic-ai/mcpb@2"

async function mcpbProgram(): Promise<string> {
  const installed = join(TRIAL_CACHE, "mcpb")
  const program = join(installed, "node_modules/.bin/mcpb")
  if (existsSync(program)) return program
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, "package.json"), '{"private":true}')
  await mustRun(["npm", "install", "--no-save", MCPB], { cwd: installed, env: networkVariables() })
  return program
}

const ASK_FOR_TOOLS = [
  {
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "trial", version: "1" } },
  },
  { method: "notifications/initialized" },
  { id: 1, method: "tools/list" },
]

const bundle: Trial = {
  name: "mcpb",
  what: "the MCPB bundle, by `mcpb`: unpack, validate, pack; and its server, started as the manifest says",
  needs: ["npm", "node"],
  async *run(release): AsyncIterable<Outcome> {
    const mcpb = await mcpbProgram()
    const path = fileOf(release, /-linux-x64-baseline\.mcpb$/)
    if (path === undefined) throw new Error("The release has no bundle for this machine.")
    const folder = join(release.scratch, "bundle")
    const env = { HOME: scratchFolder(release, "mcpb-home") }
    const unpacked = await run(["node", mcpb, "unpack", path, folder], { env })
    yield outcome("mcpb unpack", unpacked.code === 0 && existsSync(join(folder, "server/pond")), unpacked.out)
    const valid = await run(["node", mcpb, "validate", join(folder, "manifest.json")], { env })
    yield outcome("mcpb validate", valid.code === 0, valid.out)
    const packed = await run(["node", mcpb, "pack", folder, join(release.scratch, "packed.mcpb")], { env })
    yield outcome("mcpb pack of the same folder", packed.code === 0, packed.out)
    const { server } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))
    const { command, args } = server.mcp_config as { command: string; args: string[] }
    const child = Bun.spawn([command.replace(/\$\{__dirname\}/, folder), ...args], {
      env,
      stdin: new Blob(ASK_FOR_TOOLS.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)),
      stdout: "pipe",
      stderr: "ignore",
    })
    const said = await new Response(child.stdout).text()
    const names = [...said.matchAll(/"name":"(pond_\w+)"/g)].map(([, name]) => name)
    yield outcome("its server lists its tools", names.includes("pond_search"), names.join(" "))
  },
}

const registry: Trial = {
  name: "registry",
  what: "server.json, by the schema of the registry of MCP servers; SCHEMA names a copy of it where it cannot be fetched",
  needs: [],
  async *run(release): AsyncIterable<Outcome> {
    const path = fileOf(release, /^server\.json$/)
    if (path === undefined) throw new Error("The release has no server.json: build it with --repository URL.")
    const entry = JSON.parse(readFileSync(path, "utf8"))
    const copy = process.env["SCHEMA"]
    const schema =
      copy === undefined ? await (await fetch(entry.$schema)).json() : JSON.parse(readFileSync(copy, "utf8"))
    const validator = Compile(schema)
    yield outcome("the schema is the one that it names", schema.$id === entry.$schema, String(schema.$id))
    const [, faults] = validator.Errors(entry)
    yield outcome("server.json", validator.Check(entry), JSON.stringify(faults))
    const [, without] = validator.Errors({ ...entry, version: undefined, name: "no slash" })
    yield outcome("a wrong one is refused", without.length > 0, `${without.length} faults`)
    const launcher = fileOf(release, new RegExp(`^npm-pond-${RegExp.escape(release.version)}\\.tgz$`)) ?? ""
    const folder = scratchFolder(release, "launcher")
    cpSync(launcher, join(folder, "launcher.tgz"))
    await mustRun(["tar", "-xzf", "launcher.tgz"], { cwd: folder })
    const { mcpName } = JSON.parse(readFileSync(join(folder, "package/package.json"), "utf8"))
    yield outcome("the package of npm names the server", mcpName === entry.name, String(mcpName))
  },
}

export const AGENT_TRIALS: readonly Trial[] = [bundle, registry]
