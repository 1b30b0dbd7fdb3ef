/**
 * `bun run mutate [--lines 200] [--skip 0] [--seed N] [--minutes M] [--near 1] [--only src/search/] [--at FILE:LINE,…] [--tests 12]`:
 * breaks one line of src after another, chosen at random by the seed, and runs the nearest tests that import its file, then all tests
 * of its area, until one fails. A change that none of them notices is printed: it needs a test, or a reason in `mutate/explained.ts`.
 * `--near 1` leaves the area and that last run out, which is most of the time; `--minutes` stops early and says where to go on.
 * Works on a copy in a temporary directory, so this tree is never touched. The tests that noticed something run once more over the
 * code as it is, because a test that fails there proves nothing. Exits 1 when something survived.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, normalize } from "node:path"
import { readSources, type SourceFile } from "./house/sources.ts"
import { numberFlag } from "./lib/outcome.ts"
import { EXPLAINED } from "./mutate/explained.ts"
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
/** Most changes are noticed by the test next to them, so the others run only where that did not. */
const STEPS = [1, 4]

function mutationsOf({ path, text }: SourceFile): Mutation[] {
  return text.split("\n").flatMap((before, at) => {
    if (NO_CODE.test(before)) return []
    const operator = OPERATORS.find(([from]) => from.test(before.replace(/ \/\/ .*/, "")))
    return operator === undefined ? [] : [{ path, line: at + 1, before, after: before.replace(...operator) }]
  })
}

/**
 * In an order that depends on the seed and on each line alone: a commit elsewhere changes neither which lines are chosen nor
 * where a run that stopped goes on.
 */
function shuffle(all: readonly Mutation[], seed: number): Mutation[] {
  const seen = new Map<string, number>()
  const ranked = all.map((mutation) => {
    const name = `${mutation.path} ${mutation.before.trim()}`
    const nth = seen.get(name) ?? 0
    seen.set(name, nth + 1)
    return { mutation, rank: Bun.hash.xxHash3(`${seed} ${name} ${nth}`) }
  })
  return ranked.toSorted((one, other) => (one.rank < other.rank ? -1 : 1)).map(({ mutation }) => mutation)
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

/** Tests that start processes take seconds, and what they import is not what they run. */
const STARTS_PROCESSES = ["test/support/bundled-pond.ts", "test/support/pond-process.ts"]

/** Tests by how many imports lie between them and the file, those of its own folder's name first. */
function nearestTests(imports: Imports, path: string, count: number): string[] {
  const importers = new Map<string, string[]>()
  for (const [from, named] of imports) for (const to of named) importers.set(to, [...(importers.get(to) ?? []), from])
  const distance = new Map([[path, 0]])
  for (const [file, steps] of distance) {
    for (const from of importers.get(file) ?? []) if (!distance.has(from)) distance.set(from, steps + 1)
  }
  const layer = path.split("/")[1] ?? ""
  const rank = (test: string, steps: number) => {
    const isSlow = imports.get(test)?.some((each) => STARTS_PROCESSES.includes(each)) === true
    return steps - (test.startsWith(`test/${layer}/`) ? 1.5 : 0) + (isSlow ? 2.5 : 0)
  }
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

type Verdict = "killed" | "hung" | "survived" | "explained"

/** Arguments of `bun test`: what holds for the whole area of a file, most of which starts processes or goes through the registry. */
function testsOfArea(path: string): string[][] {
  const [, layer = "", folder = ""] = path.split("/")
  const own = existsSync(join(ROOT, "test", layer)) ? [[`./test/${layer}`]] : []
  if (layer !== "adapters") return layer === "operations" ? [...own, ["./test/cli"]] : own
  const client = existsSync(join(ROOT, "test", layer, folder)) ? [[`./test/${layer}/${folder}`]] : own
  return folder === "shared" ? [["./test/contract"], ...own] : [...client, ["./test/contract", "-t", folder]]
}

/** A test that fails notices the change. One that does not end may only be slow, so that is a separate verdict. */
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

function reasonOf({ path, before }: Mutation): string | undefined {
  return EXPLAINED.find((each) => each.path === path && each.line === before.trim())?.why
}

interface Judged {
  readonly verdict: Verdict
  /** The tests that ran when the change was noticed. */
  readonly by: readonly string[]
}

async function judgeMutation(
  place: string,
  mutation: Mutation,
  tests: readonly string[],
  isNear: boolean,
): Promise<Judged> {
  const { path, line, after } = mutation
  if (reasonOf(mutation) !== undefined) return { verdict: "explained", by: [] }
  const text = await Bun.file(join(ROOT, path)).text()
  const changed = text.split("\n").with(line - 1, after)
  writeFileSync(join(place, path), changed.join("\n"))
  try {
    const cuts = [0, ...STEPS, tests.length]
    const near = cuts.slice(1).map((to, at) => tests.slice(cuts[at], to))
    // Of an adapter the laws of all clients say most, and those of one are seconds.
    const laws = path.startsWith("src/adapters/") ? testsOfArea(path) : []
    for (const by of isNear ? [...near, ...laws] : [...near, ...testsOfArea(path)]) {
      const verdict = await judge(place, by)
      if (verdict !== "survived") return { verdict, by }
    }
    return { verdict: "survived", by: [] }
  } finally {
    writeFileSync(join(place, path), text)
  }
}

/** Of the tests that noticed changes, those that fail without any. Nearly always none does, which one run shows. */
async function failingAnyway(place: string, runs: ReadonlyMap<string, readonly string[]>): Promise<string[]> {
  const files = [...new Set([...runs.values()].filter((run) => !run.includes("-t")).flat())]
  if ((await judge(place, files)) === "survived") return []
  const failing: string[] = []
  for (const [name, tests] of runs) if ((await judge(place, tests)) !== "survived") failing.push(name)
  return failing
}

interface Plan {
  readonly chosen: readonly Mutation[]
  readonly tests: (path: string) => readonly string[]
  readonly isNear: boolean
  readonly endMs: number
}

function planOf(args: readonly string[]): Plan {
  const seed = numberFlag(args, "seed", 20_260_131)
  const testsMax = numberFlag(args, "tests", 12)
  const [skip, lines] = [numberFlag(args, "skip", 0), numberFlag(args, "lines", 200)]
  const only = args.includes("--only") ? (args[args.indexOf("--only") + 1] ?? "") : "src/"
  const sources = readSources(ROOT)
  const imports = importsOfAll([...sources, ...readSources(ROOT, "test"), ...readSources(ROOT, "build")])
  const all = sources.filter(({ path }) => path.startsWith(only)).flatMap(mutationsOf)
  const named = args.includes("--at") ? (args[args.indexOf("--at") + 1] ?? "").split(",") : []
  const at = all.filter(({ path, line }) => named.includes(`${path}:${line}`))
  const chosen = named.length > 0 ? at : shuffle(all, seed).slice(skip, skip + lines)
  console.log(`seed ${seed}: ${chosen.length} of ${all.length} lines`)
  return {
    chosen,
    tests: (path) => nearestTests(imports, path, testsMax),
    isNear: numberFlag(args, "near", 0) === 1,
    endMs: performance.now() + numberFlag(args, "minutes", 60 * 24) * 60_000,
  }
}

function tell(mutation: Mutation, verdict: Verdict, tests: readonly string[]): void {
  const noticed = verdict === "killed" ? `  (${tests.join(" ")})` : ""
  console.log(`${verdict.padEnd(9)}  ${mutation.path}:${mutation.line}  ${mutation.after.trim()}${noticed}`)
  if (verdict === "survived")
    console.log(`           was ${mutation.before.trim()}\n           ${tests.join(" ") || "no test imports it"}`)
  if (verdict === "explained") console.log(`           ${reasonOf(mutation)}`)
}

async function main(args: readonly string[]): Promise<number> {
  const { chosen, tests, isNear, endMs } = planOf(args)
  const place = copyTree()
  const noticing = new Map<string, readonly string[]>()
  let [survivors, judged] = [0, 0]
  try {
    for (const mutation of chosen) {
      if (performance.now() > endMs) break
      const nearest = tests(mutation.path)
      const { verdict, by } = await judgeMutation(place, mutation, nearest, isNear)
      judged += 1
      if (verdict === "survived") survivors += 1
      if (verdict === "killed") noticing.set(by.join(" "), by)
      tell(mutation, verdict, verdict === "killed" ? by : nearest)
    }
    for (const test of isNear ? [] : await failingAnyway(place, noticing)) {
      survivors += 1
      console.log(`fails without any change, so what it noticed counts for nothing: ${test}`)
    }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
  if (judged < chosen.length)
    console.log(`stopped: go on with --skip ${numberFlag(args, "skip", 0) + judged} --lines ${chosen.length - judged}`)
  console.log(`${survivors} of ${judged} survived`)
  return survivors === 0 ? 0 : 1
}

process.exitCode = await orFailure("mutate", () => main(Bun.argv.slice(2)))
