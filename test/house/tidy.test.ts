import { expect, test } from "bun:test"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, normalize, relative } from "node:path"

/**
 * The rules of the house, held by a test. Layers and owned packages are those of `src/README.md`.
 * Import lines are read by a regular expression: Bun's own scanner drops type imports.
 */
const ROOT = join(import.meta.dir, "../..")

/** What a layer may import besides itself. */
const LOW = ["model", "platform"]
const MID = [...LOW, "adapters", "substrate"]
const STORE = [...LOW, "substrate", "sessions", "embeddings"]
const ENGINES = [...MID, "sessions", "embeddings"]
const OPERATIONS = [...ENGINES, "search", "sync", "restore", "archive"]
const SURFACE = [...LOW, "operations"]
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  model: [],
  platform: ["model"],
  adapters: LOW,
  substrate: LOW,
  sessions: [...LOW, "substrate"],
  embeddings: [...LOW, "substrate"],
  search: STORE,
  sync: ENGINES,
  restore: ENGINES,
  archive: [...LOW, "substrate", "sessions"],
  operations: OPERATIONS,
  http: SURFACE,
  mcp: SURFACE,
  cli: SURFACE,
  page: LOW,
}

const OWNED: Readonly<Record<string, readonly string[]>> = {
  "@lancedb/lancedb": ["substrate"],
  "apache-arrow": ["substrate"],
  elysia: ["http"],
  "@modelcontextprotocol/sdk": ["mcp"],
  citty: ["cli"],
  "onnxruntime-node": ["embeddings"],
  fastembed: ["embeddings"],
  "@anush008/tokenizers": ["embeddings"],
  "@duckdb/node-api": ["operations"],
  "highlight.js": ["operations"],
  diff: ["operations"],
  "opencc-js": ["search"],
  preact: ["page"],
}

/** A word, where it may stand, and what to say instead. */
const BANNED: readonly (readonly [word: RegExp, allowed: RegExp, instead: string])[] = [
  [/\bDate\.now\(|\bnew Date\(\)/, /^src\/platform\/host\/clock\.ts$|^src\/page\//, "take a Clock"],
  [/\bMath\.random\(/, /^src\/platform\//, "take a Random from platform"],
  [/\bprocess\.env\b/, /^src\/platform\/host\/environment\.ts$/, "the one reader is platform/host/environment.ts"],
  [/\bprocess\.exit\(/, /^src\/main\.ts$/, "return an exit code"],
  [
    /\bBun\.gc\(|"bun:jsc"|\bmalloc_trim\b/,
    /^src\/platform\/memory\.ts$/,
    "report to platform/memory.ts: it decides when memory is given back",
  ],
  [/\bsetJITPolicy\b/, /^src\/platform\/jit\.ts$/, "the one place that sets it is platform/jit.ts"],
  [/\.only\(/, /^$/, "run everything"],
  [/\bTODO\b|\bFIXME\b/, /^$/, "do it or file an issue"],
  [/@ts-ignore|@ts-expect-error/, /^test\//, "mend the type"],
]

interface Source {
  readonly path: string
  readonly text: string
}

function sources(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".gen.ts"))
    .map((name) => ({
      path: join(folder, name),
      text: readFileSync(join(ROOT, folder, name), "utf8"),
    }))
}

function importsOf(text: string): string[] {
  const found = text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^"'\n;]*?(?:\{[^}]*\}[^"'\n;]*?)?["']([^"']+)["']/g)
  const lazy = text.matchAll(/\b(?:import|require)\(\s*["']([^"']+)["']/g)
  return [...found, ...lazy].map((match) => match[1] ?? "")
}

function layerOf(path: string): string | undefined {
  const [root, layer, ...rest] = path.split("/")
  return root === "src" && rest.length > 0 ? layer : undefined
}

/** From `start` to the brace that closes the first one opened. */
function blockFrom(text: string, start: number): string {
  let depth = 0
  for (let end = text.indexOf("{", start); end < text.length; end++) {
    if (text[end] === "{") depth++
    if (text[end] === "}" && --depth === 0) return text.slice(start, end + 1)
  }
  return text.slice(start)
}

const all = [...sources("src"), ...sources("test"), ...sources("build")]

test("the tree holds the sources that these rules are about", () => {
  expect(all.length).toBeGreaterThan(3)
})

test("imports point one way", () => {
  const wrong: string[] = []
  for (const { path, text } of all) {
    const layer = layerOf(path)
    if (layer === undefined) continue
    const may = MAY_IMPORT[layer]
    if (may === undefined) wrong.push(`${path}: ${layer} is no layer of src/README.md`)
    for (const specifier of importsOf(text).filter((name) => name.startsWith("."))) {
      const target = layerOf(relative(ROOT, normalize(join(ROOT, dirname(path), specifier))))
      if (target === layer || may?.includes(target ?? "") || specifier === "../../../package.json") continue
      wrong.push(`${path} imports ${specifier}`)
    }
  }
  expect(wrong).toEqual([])
})

test("a package that has an owner is imported by its owner alone", () => {
  const wrong: string[] = []
  for (const { path, text } of all.filter((source) => source.path.startsWith("src/"))) {
    for (const specifier of importsOf(text)) {
      const owned = Object.keys(OWNED).find((name) => specifier === name || specifier.startsWith(`${name}/`))
      if (owned === undefined || OWNED[owned]?.includes(layerOf(path) ?? "")) continue
      wrong.push(`${path} imports ${specifier}, which belongs to ${OWNED[owned]}`)
    }
  }
  expect(wrong).toEqual([])
})

test("an adapter does not import another adapter", () => {
  const wrong: string[] = []
  for (const { path, text } of all) {
    const own = /^src\/adapters\/([^/]+)\//.exec(path)?.[1]
    if (own === undefined) continue
    for (const specifier of importsOf(text).filter((name) => name.startsWith("."))) {
      const target = /^src\/adapters\/([^/]+)\//.exec(
        relative(ROOT, normalize(join(ROOT, dirname(path), specifier))),
      )?.[1]
      if (target !== undefined && target !== own && target !== "shared") wrong.push(`${path} imports ${specifier}`)
    }
  }
  expect(wrong).toEqual([])
})

/** The tables of sessions, named in any way, and tables of the store's own. */
const TABLE_ACCESS = /\btables\.(?:sessions|messages|parts|blobs)\b|\b[sS]essions(?:\(\)\))?\.tables\b|\btables: \{/
/** Layers that read the tables of sessions. `archive` moves whole tables through the store, and never one by name. */
const TABLE_READERS = ["sessions", "search"]

test("only sessions and search read the tables of sessions", () => {
  const readers = all.filter(({ path, text }) => layerOf(path) !== undefined && TABLE_ACCESS.test(text))
  const wrong = readers.filter(({ path }) => !TABLE_READERS.includes(layerOf(path) ?? ""))
  expect(wrong.map(({ path }) => path)).toEqual([])
  expect(readers.length).toBeGreaterThan(3)
})

test("banned words have a better one", () => {
  const wrong: string[] = []
  for (const { path, text } of all.filter((source) => source.path !== "test/house/tidy.test.ts")) {
    for (const [word, allowed, instead] of BANNED) {
      const isOurs = path.startsWith("src/") || word.source.includes("TODO") || word.source.includes("only")
      if (isOurs && !allowed.test(path) && word.test(text)) wrong.push(`${path}: ${word.source}: ${instead}`)
    }
  }
  expect(wrong).toEqual([])
})

test("an error thrown where another was caught carries it as its cause", () => {
  const wrong: string[] = []
  for (const { path, text } of all.filter((source) => source.path.startsWith("src/"))) {
    for (const { index } of text.matchAll(/\bcatch( \(\w+\))? \{/g)) {
      const block = blockFrom(text, index)
      if (/\bthrow new \w*Error\(/.test(block) && !/\bcause\b/.test(block)) wrong.push(`${path}: ${block}`)
    }
  }
  expect(wrong).toEqual([])
})

test("no source file has more than 450 lines", () => {
  const long = all.filter(({ text }) => text.split("\n").length > 451).map(({ path }) => path)
  expect(long).toEqual([])
})

test("the lock file names no registry host", () => {
  expect(readFileSync(join(ROOT, "bun.lock"), "utf8")).not.toMatch(/https?:\/\//)
})

test("the visible top level is the one of the design", () => {
  const allowed = [
    "LICENSE",
    "README.md",
    "build",
    "bun.lock",
    "bunfig.toml",
    "fixtures",
    "package.json",
    "src",
    "test",
    "tsconfig.json",
  ]
  const produced = ["dist", "node_modules", "coverage"]
  const visible = readdirSync(ROOT).filter((name) => !name.startsWith(".") && !produced.includes(name))
  expect(visible.filter((name) => !allowed.includes(name))).toEqual([])
})

// --- The map ---------------------------------------------------------------------------

test("src/README.md describes every layer, and says of those without code that they are not there yet", () => {
  const map = readFileSync(join(ROOT, "src/README.md"), "utf8")
  const sections = new Map(
    map.split(/^### /m).map((section) => [section.slice(0, section.indexOf("\n")), section.split(/^## /m)[0] ?? ""]),
  )
  for (const layer of Object.keys(MAY_IMPORT)) {
    const section = sections.get(layer) ?? ""
    const hasCode = all.some(({ path }) => layerOf(path) === layer)
    const found = { isDescribed: section !== "", isNotThereYet: section.includes("_Not there yet._") }
    expect(found, `the section of ${layer} in src/README.md`).toEqual({ isDescribed: true, isNotThereYet: !hasCode })
    if (hasCode) expect(section).toContain("Architecture Invariant:")
  }
})

// --- What the repository holds ---------------------------------------------------------

const SKIPPED = new Set([".git", "node_modules", "dist", "coverage"])
const PROSE_BYTES_MAX = 256 * 1024
const FILE_BYTES_MAX = 1024 * 1024

interface Kept {
  readonly path: string
  readonly bytes: number
}

function kept(folder = ""): Kept[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (SKIPPED.has(entry.name)) return []
    if (entry.isDirectory()) return kept(path)
    const isOurs = entry.isFile() && !path.endsWith(".gen.ts")
    return isOurs ? [{ path, bytes: statSync(join(ROOT, path)).size }] : []
  })
}

/** What names a machine, a registry or the making of the project instead of the product. */
const FOREIGN: readonly RegExp[] = [
  /\/work\/(main|wt|shared|\.library)\b/,
  /\/tmp\/pond\b(?!-)/,
  /\bregistry\.[\w-]+\.(org|com|io)\b|\bnpm\.pkg\.|\bverdaccio\b|\bartifactory\b/i,
  /\bissues? \d+\b|\bHELPERS\.md\b|\bhouse-style\b/i,
]

/** Where such a word is a program that is run, and not whose machine it is. */
const TOOLS: Readonly<Record<string, RegExp>> = { "build/trials/managers.ts": /^verdaccio$/i }

test("the repository names no machine, no registry and nothing of its making", () => {
  const wrong: string[] = []
  for (const { path, bytes } of kept()) {
    if (bytes > PROSE_BYTES_MAX || path === "test/house/tidy.test.ts") continue
    const text = readFileSync(join(ROOT, path), "utf8")
    for (const word of FOREIGN) {
      const found = word.exec(text)
      if (found !== null && !(TOOLS[path]?.test(found[0]) ?? false)) wrong.push(`${path}: ${found[0]}`)
    }
  }
  expect(wrong).toEqual([])
})

test("no file is larger than 1 MiB", () => {
  expect(kept().filter(({ bytes }) => bytes > FILE_BYTES_MAX)).toEqual([])
})

// --- The README --------------------------------------------------------------------------

test("the commands of the README are scripts, and name the Bun that the project is made with", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8")
  const { packageManager, scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"))
  const commands = [...readme.matchAll(/^(?:npx -y (bun@\S+)|bun) run (\S+)$/gm)]
  expect(commands.map(([, version]) => version ?? packageManager)).toEqual(Array(4).fill(packageManager))
  expect(commands.map(([, , script]) => script)).toEqual(["try", "try", "test", "test"])
  for (const [, , script] of commands) {
    expect(scripts[script ?? ""]).toBeString()
    expect(scripts[`pre${script}`]).toBe("bun install --frozen-lockfile")
  }
})
