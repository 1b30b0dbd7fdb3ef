/** `pond list`: what people see at 80 and at 120 columns, what programs read, and the flags that derive from the operation. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { writeDemo } from "../../build/corpus/demo.ts"
import { projectFilterOf } from "../../src/cli/project-flag.ts"
import { renderSessions } from "../../src/cli/render/session-list.ts"
import { createStyle } from "../../src/cli/render/style.ts"
import { list } from "../../src/cli/verbs/list.ts"
import type { ListedSession } from "../../src/operations/wire/sessions.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const itself = (text: string) => text
const NOW = new Date(2026, 0, 31, 18, 0, 0).getTime()
const listed = (ago: number, fields: Partial<ListedSession>): ListedSession => ({
  session_id: "5b1e8f2c-7a94-4c1b-9a0f-000000000000",
  short_id: "5b1e8f2c",
  source_agent: "claude-code",
  project: "/home/me/work/shop",
  host: "laptop",
  created_at: "2026-01-01T00:00:00.000Z",
  last_at: new Date(NOW - ago * 3_600_000).toISOString(),
  messages_count: 44,
  ...fields,
})
const SESSIONS = [
  listed(4, { title: "Fix the login that fails for customers with an umlaut in their name", branch: "fix-login" }),
  listed(5, { title: "Bump dependencies", source_agent: "codex", short_id: "019c0b0e-76b9", messages_count: 1234 }),
  listed(25, { project: "/srv/elsewhere/with/a/very/long/path/to/it/that/goes/on/and/on" }),
  listed(24 * 40, { title: "\u001b[31mOld\nand odd" }),
]
const screen = (columns: number) =>
  renderSessions(
    { sessions: SESSIONS, has_more: true, next_cursor: "abc" },
    {
      columns,
      style: createStyle(false),
      nowMs: NOW,
      home: "/home/me",
      path: itself,
      prose: itself,
      more: "pond list --more",
    },
  )

test.each([80, 120])("on a terminal of %d columns", (columns) => {
  const text = screen(columns)
  expect(text.split("\n").filter((line) => Bun.stringWidth(line) > columns)).toEqual([])
  expect(text).toMatchSnapshot()
})

test("in a pipe each session is a line, with tabs between what it says", () => {
  const lines = screen(Number.POSITIVE_INFINITY).trimEnd().split("\n")
  expect(lines).toHaveLength(4)
  expect(lines[0]?.split("\t")).toEqual([
    "5b1e8f2c",
    "2026-01-31 14:00:00",
    "claude-code",
    "/home/me/work/shop (fix-login)",
    "44",
    "Fix the login that fails for customers with an umlaut in their name",
  ])
})

test.each([
  ["web", { contains: "web" }],
  ["./src", { within: `${process.cwd()}/src` }],
  ["/nowhere/at/all", { within: "/nowhere/at/all" }],
  ["a.b", { contains: "a.b" }],
])("--project %s", (text, filter) => expect(projectFilterOf(text)).toEqual(filter))

test("a dot is the repository that one is in", () => {
  expect(projectFilterOf(".")).toEqual({ within: new URL("../..", import.meta.url).pathname.replace(/\/$/, "") })
})

test("flags have the kind, the bounds and the default of their field", () => {
  expect(list.flags["limit"]).toMatchObject({
    hint: "N",
    short: "n",
    summary: "Maximum number of sessions (default: 20).",
  })
  expect(() => list.flags["limit"]?.read(["500"], "-n")).toThrow("-n must be a whole number from 1 to 200")
  expect(list.flags["errors"]?.hint).toBeUndefined()
})

let home: TemporaryHome
beforeAll(async () => {
  home = temporaryHome()
  writeDemo(home.path)
  expect(await runPond(["sync", "-q"], home)).toMatchObject({ exitCode: 0 })
})
afterAll(() => home[Symbol.dispose]())

const run = (...args: readonly string[]) => runPond(args, home)

test("--more continues the list of the same shell, to its end", async () => {
  const all = await run("list", "--limit", "200")
  const shown: string[] = []
  const first = await run("list", "-n", "2")
  expect(first.stderr).toContain("More sessions match: pond list --more")
  shown.push(first.stdout)
  for (let next = await run("list", "--more"); next.exitCode === 0; next = await run("list", "--more")) {
    shown.push(next.stdout)
    if (shown.length > 50) break
  }
  expect(shown.join("")).toBe(all.stdout)
  expect((await run("list", "--more")).stderr).toContain("There is no next page: `pond list` ended here")
})

test("a short id of the list opens its session", async () => {
  const [line = ""] = (await run("list", "-n", "1")).stdout.split("\n")
  const [short = "", , , , , title = ""] = line.split("\t")
  const { session } = JSON.parse((await run("get", short, "--json")).stdout)
  expect(session.id).toStartWith(short)
  expect(title).not.toBe("")
})

test("nothing to list is said, and bad dates and numbers are explained", async () => {
  expect((await run("list", "--project", "no-such-project")).stdout).toBe(
    "No sessions match. `pond sync` stores new ones.\n",
  )
  expect((await run("list", "--from", "soonish")).stderr).toContain('"soonish" is not a date.')
  expect((await run("list", "--limit", "0")).exitCode).toBe(2)
  expect((await run("ls", "-n", "1")).exitCode).toBe(0)
})

test("a search without a query is the list, with its filters", async () => {
  const [found, all] = await Promise.all([run("search", "--project", "shop"), run("list", "--project", "shop")])
  expect(found.stdout).toBe(all.stdout)
  expect((await run("search", "--role", "user")).stderr).toContain("The query is empty.")
})

test("search --more continues the last search, without a cursor to copy", async () => {
  const first = await run("search", "the", "-n", "1")
  expect(first.stdout).toEndWith("More: pond search --more\n")
  const next = await run("search", "--more")
  expect(next.exitCode).toBe(0)
  expect(next.stdout.split("\n")[0]).not.toBe(first.stdout.split("\n")[0])
})

test("the short id of a hit opens its message", async () => {
  const { stdout } = await run("search", "charged twice")
  const [, id = ""] = /^ {2}(\S{8}) {2}user/m.exec(stdout) ?? []
  expect((await run("get", id)).stdout).toContain("Orders are sometimes charged twice")
  expect((await run("search", "--similar-to", id, "--json")).exitCode).toBe(0)
})

test("resume --last is the first of the list, and goes with no words", async () => {
  const [first = ""] = (await run("list", "-n", "1")).stdout.split("\t")
  const planned = await run("resume", "--last", "--dry-run", "--json", "--cwd", home.path)
  expect(JSON.parse(planned.stdout).session_id).toStartWith(first)
  expect((await run("resume", "--last", "words")).stderr).toContain("--last cannot be combined")
  expect((await run("resume", "--last", "--here")).stderr).toContain("No session to resume.")
  expect((await run("resume", "two", "words")).stderr).toContain("Missing SESSION")
})
