/** The plugin folder: every manifest is about this version, and every hook is a command line that pond takes. */
import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundleManifest, pluginFiles, registryEntry } from "../../build/plugins/plugin.ts"
import { describeRelease, type Release } from "../../build/release/description.ts"
import { version } from "../../package.json"
import { adapterById } from "../../src/adapters/registry.ts"
import { GLOBAL_FLAGS } from "../../src/cli/flags.ts"
import { findVerb, readInvocation } from "../../src/cli/frame/parse-arguments.ts"
import { SKILL } from "../../src/cli/help/skill-text.ts"
import { VERBS } from "../../src/cli/registry.ts"

const release: Release = describeRelease({
  repository: "https://github.com/someone/pond",
  downloads: undefined,
  maintainer: "Somebody <somebody@example.com>",
})
const files = new Map(pluginFiles(release).map(({ path, text }) => [path, text]))
const manifests = [...files].filter(([path]) => path.endsWith(".json")).map(([path, text]) => [path, JSON.parse(text)])

test("every manifest is JSON, and names this version", () => {
  expect(manifests.length).toBeGreaterThan(10)
  for (const [path, manifest] of manifests)
    if (manifest.version !== undefined && manifest.version !== 1)
      expect([path, manifest.version]).toEqual([path, version])
  expect(files.get("skills/pond/SKILL.md")).toBe(SKILL)
  for (const path of [".mcp.json", "mcp.json", "gemini/gemini-extension.json"])
    expect(JSON.parse(files.get(path) ?? "").mcpServers).toEqual({ pond: { command: "pond", args: ["mcp"] } })
})

test("every hook is a command line that pond takes, of its own client, with a time that its client means", async () => {
  const commands = [...files].flatMap(([path, text]) =>
    [...text.matchAll(/"(?:command|bash)": "pond (hook [^"]+)"/g)].map(([, line = ""]) => ({ path, line })),
  )
  expect(commands.length).toBeGreaterThan(14)
  for (const { line } of commands) {
    const route = findVerb(line.split(" "), VERBS)
    const verb = await route?.row.load()
    expect(() =>
      readInvocation(route?.rest ?? [], { ...GLOBAL_FLAGS, ...verb?.flags }, verb?.positionals ?? []),
    ).not.toThrow()
  }
  expect(
    commands.filter(({ path }) => path.startsWith("hooks/")).every(({ line }) => line.endsWith("claude-code")),
  ).toBe(true)
  expect(files.get("hooks/hooks.json")).toContain('"timeout": 5\n')
  expect(files.get("gemini/hooks/hooks.json")).toContain('"timeout": 5000\n')
})

test("the registry of MCP servers is told of the package of npm, where the project has a page there", () => {
  expect(JSON.parse(registryEntry(release) ?? "")).toMatchObject({ name: "io.github.someone/pond", version })
  expect(JSON.parse(registryEntry(release) ?? "").description.length).toBeLessThanOrEqual(100)
  expect(registryEntry({ ...release, homepage: undefined })).toBeUndefined()
  expect(JSON.parse(bundleManifest(release, "linux"))).toMatchObject({
    version,
    server: { entry_point: "server/pond" },
  })
})

interface Hooks {
  readonly "chat.message": (input: object, output: { message: { id: string }; parts: object[] }) => Promise<void>
}

test("the plugin of opencode adds what pond says as a part that nobody typed, and nothing where pond is silent or absent", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pond-plugin-"))
  try {
    const part = { id: "prt_1", type: "text", text: "hello" }
    const partsWith = async (name: string, command: readonly string[]) => {
      const path = join(folder, `${name}.mjs`)
      writeFileSync(path, hookFile(command))
      const { Pond } = (await import(path)) as { readonly Pond: (context: object) => Promise<Hooks> }
      const parts: object[] = [part]
      await (await Pond({ directory: "/" }))["chat.message"]({ sessionID: "s" }, { message: { id: "m" }, parts })
      return parts
    }
    const fake = join(folder, "fake.ts")
    writeFileSync(
      fake,
      `const { prompt } = JSON.parse(await Bun.stdin.text())
      const additionalContext = [...process.argv.slice(2), prompt].join(" ")
      if (process.argv.length > 5) console.log(JSON.stringify({ hookSpecificOutput: { additionalContext } }))`,
    )
    const said = { type: "text", text: "hook prompt --client opencode hello", synthetic: true }
    expect(await partsWith("speaks", [process.execPath, fake])).toMatchObject([part, said])
    expect(await partsWith("silent", [process.execPath, "-e", ""])).toEqual([part])
    expect(await partsWith("absent", ["/nowhere/pond"])).toEqual([part])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

function hookFile(command: readonly string[]): string {
  const content = adapterById("opencode")?.hooks?.content
  return content?.kind === "file" ? content.text(command, "") : ""
}
