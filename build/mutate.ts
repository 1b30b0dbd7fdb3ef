/**
 * `bun run mutate [--lines 200] [--skip 0] [--seed N] [--only src/search/] [--at FILE:LINE,…] [--tests 12]`: breaks one line of src
 * after another, chosen at random by the seed, and runs the nearest tests that import its file, then all tests of its area. A change
 * that none of them notices is printed: it needs a test, or a reason. Works on a copy in a temporary directory, so this tree is never
 * touched. The tests that noticed something run once more over the code as it is, because a test that fails there proves nothing.
 * Exits 1 when something survived.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, normalize } from "node:path"
import { readSources, type SourceFile } from "./house/sources.ts"
import { numberFlag } from "./lib/outcome.ts"
import { ROOT } from "./release/packages.ts"
import { orFailure } from "./release/targets.ts"

interface Mutation {
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly before: string
  readonly after: string
}

/** Tried in this order; the first that fits a line is its mutation. Spaces around keep types and texts out. */
const OPERATORS: readonly (readonly [from: RegExp, to: string])[] = [
  [/ === /, " !== "],
  [/ !== /, " === "],
  [/ <= /, " < "],
  [/ >= /, " > "],
  [/ < (?=[\w(])/, " <= "],
  [/ > (?=[\w(])/, " >= "],
  [/ && /, " || "],
  [/ \|\| /, " && "],
  [/ \?\? /, " && "],
  // Not an argument of a type, which no test runs.
  [/\btrue\b(?!>)/, "false"],
  [/\bfalse\b(?!>)/, "true"],
  [/ \+ (?=[\w(])/, " - "],
  [/ - (?=[\w(])/, " + "],
  [/\.some\(/, ".every("],
  [/\.every\(/, ".some("],
  [/\bMath\.min\(/, "Math.max("],
  [/\bMath\.max\(/, "Math.min("],
  [/= (\d[\d_]*)$/, "= 1 + $1"],
]
const NO_CODE = /^\s*(?:\*|\/[/*]|import |export (?:type|interface)|readonly |\||["'`])/
const TEST_TIMEOUT_MS = 300_000
/** Most changes are noticed by the tests next to them, so the others run only where those did not. */
const NEAREST_FIRST = 3

function mutationsOf({ path, text }: SourceFile): Mutation[] {
  return text.split("\n").flatMap((before, at) => {
    if (NO_CODE.test(before)) return []
    const operator = OPERATORS.find(([from]) => from.test(before.replace(/ \/\/ .*/, "")))
    return operator === undefined ? [] : [{ path, line: at + 1, before, after: before.replace(...operator) }]
  })
}

/** Small and repeatable (mulberry32): the same seed breaks the same lines of the same tree. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function choose<T>(all: readonly T[], count: number, random: () => number): T[] {
  const left = [...all]
  const chosen: T[] = []
  while (chosen.length < count && left.length > 0) chosen.push(...left.splice(Math.floor(random() * left.length), 1))
  return chosen
}

type Imports = ReadonlyMap<string, readonly string[]>

function importsOfAll(files: readonly SourceFile[]): Imports {
  return new Map(
    files.map(({ path, text }) => {
      const named = [...text.matchAll(/(?:from|import\(?) ?"(\.[^"]+\.ts)"/g)].map(([, to = ""]) => to)
      return [path, named.map((to) => normalize(join(dirname(path), to)))]
    }),
  )
}

/** Tests by how many imports lie between them and the file, those of its own folder's name first. */
function nearestTests(imports: Imports, path: string, count: number): string[] {
  const importers = new Map<string, string[]>()
  for (const [from, named] of imports) for (const to of named) importers.set(to, [...(importers.get(to) ?? []), from])
  const distance = new Map([[path, 0]])
  for (const [file, steps] of distance) {
    for (const from of importers.get(file) ?? []) if (!distance.has(from)) distance.set(from, steps + 1)
  }
  const layer = path.split("/")[1] ?? ""
  const rank = (test: string, steps: number) => steps - (test.startsWith(`test/${layer}/`) ? 1.5 : 0)
  return [...distance]
    .filter(([file]) => file.endsWith(".test.ts"))
    .toSorted(([one, near], [other, far]) => rank(one, near) - rank(other, far) || (one < other ? -1 : 1))
    .slice(0, count)
    .map(([file]) => `./${file}`)
}

function copyTree(): string {
  const place = mkdtempSync(join(tmpdir(), "pond-mutate-"))
  for (const name of readdirSync(ROOT)) {
    if (![".git", "node_modules", "dist"].includes(name))
      cpSync(join(ROOT, name), join(place, name), { recursive: true })
  }
  symlinkSync(join(ROOT, "node_modules"), join(place, "node_modules"))
  return place
}

type Verdict = "killed" | "hung" | "survived"

/** Arguments of `bun test`: what holds for the whole area of a file, most of which starts processes or goes through the registry. */
function testsOfArea(path: string): string[][] {
  const [, layer = "", folder = ""] = path.split("/")
  const own = existsSync(join(ROOT, "test", layer)) ? [[`./test/${layer}`]] : []
  if (layer !== "adapters") return layer === "operations" ? [...own, ["./test/cli"]] : own
  const client = existsSync(join(ROOT, "test", layer, folder)) ? [[`./test/${layer}/${folder}`]] : own
  return folder === "shared" ? [["./test/contract"], ...own] : [...client, ["./test/contract", "-t", folder]]
}

/** A test that fails notices the change. One that does not end may only be slow, so that is a verdict of its own. */
async function judge(place: string, tests: readonly string[]): Promise<Verdict> {
  if (tests.length === 0) return "survived"
  const child = Bun.spawn([process.execPath, "test", "--bail", "--timeout", "60000", ...tests], {
    cwd: place,
    stdout: "ignore",
    stderr: "ignore",
    timeout: TEST_TIMEOUT_MS,
    killSignal: "SIGKILL",
  })
  await child.exited
  if (child.signalCode !== null) return "hung"
  return child.exitCode === 0 ? "survived" : "killed"
}

interface Judged {
  readonly verdict: Verdict
  /** The tests that ran when the change was noticed. */
  readonly by: readonly string[]
}

async function judgeMutation(place: string, mutation: Mutation, tests: readonly string[]): Promise<Judged> {
  const { path, line, after } = mutation
  const text = await Bun.file(join(ROOT, path)).text()
  const changed = text.split("\n").with(line - 1, after)
  writeFileSync(join(place, path), changed.join("\n"))
  try {
    for (const by of [tests.slice(0, NEAREST_FIRST), tests.slice(NEAREST_FIRST), ...testsOfArea(path)]) {
      const verdict = await judge(place, by)
      if (verdict !== "survived") return { verdict, by }
    }
    return { verdict: "survived", by: [] }
  } finally {
    writeFileSync(join(place, path), text)
  }
}

/** Of the tests that noticed changes, those that fail without any. */
async function failingAnyway(place: string, runs: ReadonlyMap<string, readonly string[]>): Promise<string[]> {
  const failing: string[] = []
  for (const [name, tests] of runs) if ((await judge(place, tests)) !== "survived") failing.push(name)
  return failing
}

async function main(args: readonly string[]): Promise<number> {
  const seed = numberFlag(args, "seed", 20_260_131)
  const testsMax = numberFlag(args, "tests", 12)
  const [skip, lines] = [numberFlag(args, "skip", 0), numberFlag(args, "lines", 200)]
  const only = args.includes("--only") ? (args[args.indexOf("--only") + 1] ?? "") : "src/"
  const sources = readSources(ROOT)
  const imports = importsOfAll([...sources, ...readSources(ROOT, "test"), ...readSources(ROOT, "build")])
  const all = sources.filter(({ path }) => path.startsWith(only)).flatMap(mutationsOf)
  const named = args.includes("--at") ? (args[args.indexOf("--at") + 1] ?? "").split(",") : []
  const at = all.filter(({ path, line }) => named.includes(`${path}:${line}`))
  const chosen = named.length > 0 ? at : choose(all, skip + lines, createRandom(seed)).slice(skip)
  console.log(`seed ${seed}: ${chosen.length} of ${all.length} lines`)
  const place = copyTree()
  const noticing = new Map<string, readonly string[]>()
  let survivors = 0
  try {
    for (const mutation of chosen) {
      const tests = nearestTests(imports, mutation.path, testsMax)
      const { verdict, by } = await judgeMutation(place, mutation, tests)
      if (verdict === "survived") survivors += 1
      if (verdict === "killed") noticing.set(by.join(" "), by)
      console.log(`${verdict.padEnd(8)}  ${mutation.path}:${mutation.line}  ${mutation.after.trim()}`)
      if (verdict === "survived")
        console.log(`          was ${mutation.before.trim()}\n          ${tests.join(" ") || "no test imports it"}`)
    }
    for (const test of await failingAnyway(place, noticing)) {
      survivors += 1
      console.log(`fails without any change, so what it noticed counts for nothing: ${test}`)
    }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
  console.log(`${survivors} of ${chosen.length} survived`)
  return survivors === 0 ? 0 : 1
}

process.exitCode = await orFailure("mutate", () => main(Bun.argv.slice(2)))
