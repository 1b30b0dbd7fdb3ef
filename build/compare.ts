/**
 * `bun run compare DIR… [--client ID] [--seed N] [-v]`: stores the sessions that lie in each directory, restores every one of them
 * into an empty place, and compares that with the original files by code that shares nothing with pond's: its own walk over the
 * files, its own JSON that keeps numbers and repeated keys as they are written, its own rows of SQLite. Then damages are planted
 * into what was restored, each of which must be noticed. Exits 1 where a file differs or a damage was not seen.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { seededRandom } from "../src/platform/host/random.ts"
import { compareTrees, type Difference, filesBelow } from "./compare/compare-trees.ts"
import { plantAll } from "./compare/plant.ts"
import { recordsOf } from "./compare/records.ts"
import type { RanLine } from "./compare/run-lines.ts"
import { numberFlag } from "./lib/outcome.ts"
import { BuildFailure, orFailure } from "./release/targets.ts"

/** Of command lines for one process: the argument of a process has an end. */
const LINES_AT_ONCE = 200
const PAGE = 1_000

/** Runs command lines of pond one after the other in one process, in a separate home. */
async function pond(home: string, lines: readonly (readonly string[])[]): Promise<RanLine[]> {
  const ran: RanLine[] = []
  for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
    const some = JSON.stringify(lines.slice(from, from + LINES_AT_ONCE))
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "compare/run-lines.ts"), some], {
      env: { HOME: home, PATH: process.env["PATH"] ?? "" },
      stdio: ["ignore", "pipe", "inherit"],
    })
    ran.push(...(JSON.parse(await new Response(child.stdout).text()) as RanLine[]))
  }
  return ran
}

async function one(home: string, ...words: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const [ran] = await pond(home, [words])
  if (ran?.document === undefined) throw new BuildFailure(`pond ${words.join(" ")} ended with ${ran?.exitCode}`)
  return ran.document
}

interface SessionRows {
  readonly rows: readonly { readonly id: string; readonly parent_session_id: string | null }[]
}

/** Those that no other stored session brings with it when it is restored. */
async function rootSessions(home: string): Promise<string[]> {
  const parents = new Map<string, string | null>()
  for (let last = ""; ; ) {
    const sql = `select id, parent_session_id from sessions where id > '${last.replaceAll("'", "''")}' order by id`
    const { rows } = (await one(home, "sql", sql, "--limit", String(PAGE))) as unknown as SessionRows
    for (const { id, parent_session_id: parent } of rows) parents.set(id, parent)
    const end = rows.at(-1)
    if (end === undefined || rows.length < PAGE) break
    last = end.id
  }
  return [...parents].filter(([, parent]) => parent === null || !parents.has(parent)).map(([id]) => id)
}

/** A file that several sessions share, such as the record of their project, is replaced by the last of them. */
async function restoreAll(home: string, root: string, ids: readonly string[]): Promise<readonly RanLine[]> {
  const restore = (id: string, ...flags: readonly string[]) => ["restore", "--root", root, ...flags, "--", id]
  const ran = await pond(
    home,
    ids.map((id) => restore(id)),
  )
  const isShared = ({ document }: RanLine) => JSON.stringify(document ?? {}).includes('"would_overwrite"')
  const again = await pond(
    home,
    ids.filter((_, index) => isShared(ran[index] as RanLine)).map((id) => restore(id, "--force")),
  )
  return ran.map((each) => (isShared(each) ? (again.shift() ?? each) : each))
}

interface Judged {
  readonly sessions: number
  readonly differing: readonly Difference[]
  readonly planted: number
  readonly missed: readonly Difference[]
}

interface Asked {
  readonly directory: string
  readonly client: string
  readonly seed: number
  readonly isVerbose: boolean
}

async function judge({ directory, client, seed, isVerbose }: Asked): Promise<Judged | undefined> {
  const home = mkdtempSync(join(tmpdir(), "pond-compare-"))
  const [original, restored] = [join(home, "original"), join(home, "restored")]
  mkdirSync(restored)
  try {
    copyAged(directory, original)
    const synced = await one(home, "sync", client, "--path", original, "--only", "import")
    const ids = await rootSessions(home)
    if (ids.length === 0) return undefined
    const ran = await restoreAll(home, restored, ids)
    const { same, differing, copies, unread } = compareTrees(original, restored)
    const silent = unread.filter((file) => !JSON.stringify(synced).includes(JSON.stringify(file).slice(1, -1)))
    const otherwise = copies.reduce((sum, { records }) => sum + records, 0)
    console.log(
      `${client}  ${directory}: ${ids.length} sessions with those below them; ${same.bytes} files equal by bytes, ${same.value} by value, ${same.elsewhere} held by another file; ${differing.length} differ; ${otherwise} records of second copies differ, which the sync tells; ${unread.length} files not read, ${silent.length} of them without an issue`,
    )
    if (isVerbose) for (const file of silent) console.log(`  not read: ${file}`)
    const untold = otherwise > toldCopies(synced) ? copies : []
    const refusals = ids.flatMap((id, index) => {
      const { exitCode, document } = ran[index] as RanLine
      return exitCode === 0 ? [] : [{ file: id, what: `it was not restored: ${whyNot(exitCode, document)}` }]
    })
    return {
      sessions: ids.length,
      differing: [
        ...refusals,
        ...differing,
        ...untold.map(({ file, records }) => ({ file, what: `${records} records are in no restored file` })),
      ],
      ...plantInto(restored, seed),
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** pond leaves for later what may be in the middle of being written, and for a day what does not say where it is at work. */
const AGE_DAYS = 30

function copyAged(from: string, to: string): void {
  const then = Date.now() / 1000 - AGE_DAYS * 86_400
  for (const path of filesBelow(from, "all")) {
    mkdirSync(dirname(join(to, path)), { recursive: true })
    writeFileSync(join(to, path), readFileSync(join(from, path)))
    utimesSync(join(to, path), then, then)
  }
}

interface Synced {
  readonly adapters?: readonly { readonly issues: readonly { readonly kind: string; readonly count: number }[] }[]
}

/** How many records of second copies the sync said that it left out. */
function toldCopies(synced: Synced): number {
  const issues = (synced.adapters ?? []).flatMap((adapter) => adapter.issues)
  return issues.filter(({ kind }) => kind === "copy_differs").reduce((sum, { count }) => sum + count, 0)
}

function whyNot(exitCode: number, document: RanLine["document"]): string {
  return JSON.stringify(document?.["error"] ?? exitCode).slice(0, 300)
}

function plantInto(restored: string, seed: number): Pick<Judged, "planted" | "missed"> {
  const random = seededRandom(seed)
  let planted = 0
  const missed: Difference[] = []
  for (const file of filesBelow(restored)) {
    const whole = recordsOf(join(restored, file))
    if (whole.records.length === 0) continue
    const found = plantAll(file, whole, Math.floor(random.next() * whole.records.length))
    planted += found.tried
    missed.push(...found.missed)
  }
  return { planted, missed }
}

async function main(args: readonly string[]): Promise<number> {
  const seed = numberFlag(args, "seed", 1)
  const named = args.includes("--client") ? args[args.indexOf("--client") + 1] : undefined
  const isValue = (index: number) => ["--seed", "--client"].includes(args[index - 1] ?? "")
  const directories = args
    .filter((word, index) => !word.startsWith("-") && !isValue(index))
    .map((word) => resolve(word))
  if (directories.length === 0) throw new BuildFailure("Name a directory with sessions: bun run compare DIR")
  const clients = named === undefined ? await knownClients() : [named]
  const all: Judged[] = []
  for (const directory of directories) {
    for (const client of clients) {
      const judged = await judge({ directory, client, seed, isVerbose: args.includes("-v") })
      if (judged === undefined) continue
      for (const { file, what } of judged.differing) console.log(`  DIFFERS ${file}: ${what}`)
      for (const { file, what } of judged.missed) console.log(`  NOT NOTICED ${file}: ${what}`)
      all.push(judged)
    }
  }
  const sum = (count: (judged: Judged) => number) => all.reduce((total, judged) => total + count(judged), 0)
  const [sessions, differing, missed] = [
    sum((each) => each.sessions),
    sum((each) => each.differing.length),
    sum((each) => each.missed.length),
  ]
  console.log(
    `${sessions} sessions: ${differing} differences; ${sum((each) => each.planted) - missed} of ${sum((each) => each.planted)} planted damages noticed`,
  )
  return sessions > 0 && differing === 0 && missed === 0 ? 0 : 1
}

async function knownClients(): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), "pond-compare-"))
  try {
    const { adapters } = (await one(home, "adapters", "list")) as unknown as {
      adapters: { readonly adapter: string }[]
    }
    return adapters.map(({ adapter }) => adapter)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

process.exitCode = await orFailure("compare", () => main(Bun.argv.slice(2)))
