/** Archives, copies and care on the command line: what is said, what programs get, and every wrong way to ask. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { writeDemo } from "../../build/corpus/demo.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const SESSION = "de300001-0000-4000-8000-000000000000"
const MESSAGE = "de311000-0000-4000-8000-000000000000"
let home: TemporaryHome

beforeAll(async () => {
  home = temporaryHome()
  writeDemo(home.path)
  expect(await runPond(["sync", "-q"], { env: home.env })).toMatchObject({ exitCode: 0 })
  writeFileSync(join(home.path, "text.pond"), "this is no archive")
  mkdirSync(join(home.path, "folder.pond"))
  mkdirSync(join(home.path, "empty"))
  expect(await run(["export", "-o", at("whole.pond")])).toMatchObject({ exitCode: 0 })
})
afterAll(() => home[Symbol.dispose]())

const at = (name: string) => join(home.path, name)
const run = (args: readonly string[]) => runPond(args, { env: home.env, cwd: home.path })

async function document(args: readonly string[]) {
  const { stdout, exitCode } = await run([...args, "--json", "-q"])
  return { exitCode, ...JSON.parse(stdout) }
}

/** What a user sees of the home: pond's own places come and go. */
const written = () => readdirSync(home.path).filter((name) => !name.startsWith("."))

test("an archive comes back into another store, and both are equal by their ids", async () => {
  const report = await document(["export", "-o", at("all.pond")])
  expect(report).toMatchObject({ exitCode: 0, sessions: 3, messages: 8, parts: 8, blobs: 0, embeddings: 0 })
  expect(report.bytes).toBe(statSync(at("all.pond")).size)
  expect(report.sha256).toBe(new Bun.CryptoHasher("sha256").update(readFileSync(at("all.pond"))).digest("hex"))
  expect(statSync(at("all.pond")).mode & 0o077).toBe(0)
  const store = at("second")
  expect(await document(["import", at("all.pond"), "--dry-run", "--store", store])).toMatchObject({
    sessions: { new: 3, present: 0 },
    dry_run: true,
  })
  expect(existsSync(store)).toBe(false)
  expect(await document(["import", at("all.pond"), "--store", store])).toMatchObject({
    exitCode: 0,
    messages: { new: 8, present: 0 },
  })
  expect(await document(["copy", "--to", store, "--verify-only"])).toMatchObject({
    exitCode: 0,
    ok: true,
    present: { sessions: 3, messages: 8, parts: 8 },
    missing: { sessions: 0, messages: 0, parts: 0 },
  })
})

test("a copy that lacks something is said line by line, and exits 4", async () => {
  const { stdout, exitCode } = await run(["copy", "--to", at("bare"), "--verify-only"])
  expect(exitCode).toBe(4)
  expect(stdout).toContain(`missing  sessions ${SESSION}\n`)
  expect(stdout).toEndWith("The target is missing rows. Run pond copy without --verify-only.\n")
})

test("optimize says what it gained, and a second one that there was nothing", async () => {
  const [first, second] = [await document(["optimize"]), await document(["optimize"])]
  expect(first.tables.map(({ table }: { table: string }) => table)).toEqual(["sessions", "messages", "parts"])
  for (const { before, after } of first.tables) {
    expect(after).toMatchObject({ pieces: 1, waiting: 0 })
    expect(before.bytes.live).toBeGreaterThan(0)
  }
  for (const { before } of second.tables) expect(before).toMatchObject({ pieces: 1, waiting: 0 })
})

interface Mistake {
  readonly args: () => readonly string[]
  readonly exitCode: number
  readonly code: string
  readonly line: string
}

const MISTAKES: Readonly<Record<string, Mistake>> = {
  "export without a file": mistake(["export"], 2, "validation_failed", "Missing -o FILE.pond"),
  "export over a file that is there": mistake(["export", "-o", "whole.pond"], 8, "would_overwrite", "already exists"),
  "export into a directory that is not there": mistake(
    ["export", "-o", "nowhere/x.pond"],
    5,
    "storage_unavailable",
    "(ENOENT). Choose a writable directory",
  ),
  "export of a session that is not there": mistake(
    ["export", "-o", "x.pond", "--session", "nobody"],
    3,
    "not_found",
    "No session matches",
  ),
  "export from a day that is none": mistake(
    ["export", "-o", "x.pond", "--from", "31.01.2026"],
    2,
    "validation_failed",
    '"31.01.2026" is not a date',
  ),
  "export of an empty store": mistake(["export", "-o", "x.pond", "--store", "empty"], 3, "not_found", "is empty"),
  "import without a file": mistake(["import"], 2, "validation_failed", "Missing FILE"),
  "import of a file that is not there": mistake(["import", "absent.pond"], 3, "not_found", "(ENOENT). Choose a file"),
  "import of a text": mistake(["import", "text.pond"], 2, "validation_failed", "is not a complete export file"),
  "import of a directory": mistake(["import", "folder.pond"], 2, "validation_failed", "is not a file"),
  "import into a store below a file": mistake(
    ["import", "whole.pond", "--store", "text.pond/store"],
    5,
    "storage_unavailable",
    "text.pond",
  ),
  "copy to nowhere": mistake(["copy"], 2, "validation_failed", "Missing --to URL"),
  "copy into itself": mistake(["copy", "--from", "empty", "--to", "empty"], 2, "validation_failed", "the same store"),
  "copy of a store that is not there": mistake(
    ["copy", "--from", "absent", "--to", "x"],
    3,
    "not_found",
    "No store at",
  ),
  "copy to a URL of no kind": mistake(["copy", "--to", "ftp://x/y"], 2, "validation_failed", "Invalid storage URL"),
  "copy to a namespace that is not there": mistake(
    ["copy", "--to", "x", "--namespace", "ada"],
    7,
    "namespace_unknown",
    "no such namespace",
  ),
  "get of nothing": mistake(["get"], 2, "validation_failed", "Missing ID"),
  "get of an id that is not there": mistake(["get", "nobody"], 3, "not_found", "No session or message nobody"),
  "get behind a message that is not there": mistake(
    ["get", SESSION, "--after", "x"],
    3,
    "not_found",
    "has no message x",
  ),
  "get with too many neighbours": mistake(["get", MESSAGE, "--context", "51"], 2, "validation_failed", "from 0 to 50"),
  "search from a day that is none": mistake(
    ["search", "x", "--from", "soon"],
    2,
    "validation_failed",
    '"soon" is not a date',
  ),
  "search by a pattern that is none": mistake(["search", "--mode", "pattern", "("], 2, "validation_failed", ""),
  "restore of a session that is not there": mistake(["restore", "nobody"], 3, "not_found", "No session nobody"),
  "restore where it lies": mistake(["restore", SESSION], 8, "would_overwrite", ""),
  "optimize with a word too many": mistake(["optimize", "all"], 2, "validation_failed", "Unexpected argument"),
}

function mistake(words: readonly string[], exitCode: number, code: string, line: string): Mistake {
  return { args: () => words, exitCode, code, line }
}

describe("said in one line, with its exit code, and nothing is written:", () => {
  test.each(Object.entries(MISTAKES))("%s", async (_, { args, exitCode, code, line }) => {
    const before = written()
    const answer = await document(args())
    expect({ exitCode: answer.exitCode, code: answer.error.code }).toEqual({ exitCode, code })
    expect(answer.error.message).toContain(line)
    expect(answer.error.message).not.toContain("\n")
    expect(written()).toEqual(before)
  })
})

test("an export file is not written through a link, and what lies beside it stays", async () => {
  writeFileSync(at("precious"), "precious")
  symlinkSync(at("precious"), at("linked.pond"))
  writeFileSync(at("linked.pond.part"), "of the user")
  const mine = `.pond-draft-${process.pid}-of-the-user`
  writeFileSync(at(mine), "of the user")
  expect(await run(["export", "-o", at("linked.pond"), "--force"])).toMatchObject({ exitCode: 0 })
  expect(readFileSync(at("precious"), "utf8")).toBe("precious")
  for (const name of ["linked.pond.part", mine]) expect(readFileSync(at(name), "utf8")).toBe("of the user")
})
