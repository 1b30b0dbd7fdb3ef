/** Trials of documents that others read: what desktop clients and the registry of MCP servers take, and what it is made of. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Compile } from "typebox/schema"
import type { Outcome } from "../lib/outcome.ts"
import { fileOf, mustRun, networkVariables, outcome, run, scratchFolder, TRIAL_CACHE, type Trial } from "./trial.ts"

const MCPB = "@anthropic-ai/mcpb@2"

/** Packages of npm that a trial needs, in a directory that is kept. */
async function installed(name: string, ...packages: readonly string[]): Promise<string> {
  const folder = join(TRIAL_CACHE, name)
  const complete = join(folder, "complete")
  if (existsSync(complete)) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), '{"private":true}')
  await mustRun(["npm", "install", "--no-save", ...packages], { cwd: folder, env: networkVariables() })
  writeFileSync(complete, "")
  return folder
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
    const mcpb = join(await installed("mcpb", MCPB), "node_modules/.bin/mcpb")
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

/** Reads a document on stdin and prints what its schema says against it, or null. */
const VALIDATE = `
  const { Validation, Spec } = require("@cyclonedx/cyclonedx-library")
  const text = require("node:fs").readFileSync(0, "utf8")
  new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text).then((found) => console.log(JSON.stringify(found)))`

const materials: Trial = {
  name: "sbom",
  what: "the bills of materials, by the schema of CycloneDX 1.6 as its own library has it",
  needs: ["npm", "node"],
  async *run(release): AsyncIterable<Outcome> {
    const validators = ["ajv@8", "ajv-formats@3", "ajv-formats-draft2019@1"]
    const cwd = await installed("cyclonedx", "@cyclonedx/cyclonedx-library", ...validators)
    const faultsOf = async (text: string) => {
      const child = Bun.spawn(["node", "-e", VALIDATE], {
        cwd,
        stdin: new Blob([text]),
        stdout: "pipe",
        stderr: "inherit",
      })
      return (await new Response(child.stdout).text()).trim()
    }
    const names = readdirSync(release.folder).filter((name) => name.endsWith(".cdx.json"))
    for (const name of names) {
      const text = readFileSync(join(release.folder, name), "utf8")
      const faults = await faultsOf(text)
      yield outcome(name, faults === "null", faults)
      const wrong = await faultsOf(text.replace("CycloneDX", "Cyclone"))
      yield outcome("a wrong one is refused", wrong.includes("bomFormat"), wrong)
    }
  },
}

export const AGENT_TRIALS: readonly Trial[] = [bundle, registry, materials]
