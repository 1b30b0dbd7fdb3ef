/** `pond get SESSION --format md`, as its users run it: to a pipe, to a file, to a program, and what it refuses. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { SAMPLE_SESSION_ID, writeSampleSession } from "../../build/corpus/sample-session.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

let home: TemporaryHome
beforeAll(async () => {
  home = temporaryHome()
  writeSampleSession(home.path)
  expect(await runPond(["sync", "-q"], { env: home.env })).toMatchObject({ exitCode: 0 })
})
afterAll(() => home[Symbol.dispose]())

const get = (...args: readonly string[]) =>
  runPond(["get", SAMPLE_SESSION_ID, ...args], { env: home.env, cwd: home.path })

test("to a pipe, to a file of one's own, and as one document: the same Markdown", async () => {
  const piped = await get("--format", "md")
  expect(piped).toMatchObject({ exitCode: 0, stderr: "" })
  expect(piped.stdout).toStartWith("# How do water lilies float?\n\n*   Client: claude-code\n")
  expect(piped.stdout).toEndWith("\n    On the air in their leaves.\n")

  const file = await get("-o", "talk.md")
  const bytes = Buffer.byteLength(piped.stdout)
  expect(file).toEqual({
    exitCode: 0,
    stderr: "",
    stdout: `Wrote 2 messages to talk.md: ${bytes} bytes.\nNot redacted: --redact replaces text that looks like a credential.\n`,
  })
  expect(readFileSync(join(home.path, "talk.md"), "utf8")).toBe(piped.stdout)
  expect(statSync(join(home.path, "talk.md")).mode & 0o777).toBe(0o600)

  const [json, redacted] = await Promise.all([
    get("--format", "md", "--json"),
    get("-o", "clean.md", "--redact", "--json"),
  ])
  expect(JSON.parse(json.stdout)).toEqual({
    protocol_version: 1,
    session_id: SAMPLE_SESSION_ID,
    markdown: piped.stdout,
    messages: 2,
  })
  expect(JSON.parse(redacted.stdout)).toMatchObject({ file: "clean.md", messages: 2, replaced: [] })
  expect(readFileSync(join(home.path, "clean.md"), "utf8")).toContain("No credentials detected.")
})

test("a file that is there is written over with --force alone", async () => {
  await Bun.write(join(home.path, "mine.md"), "mine")
  const refused = await get("-o", "mine.md")
  expect(refused).toEqual({
    exitCode: 8,
    stdout: "",
    stderr: "pond: mine.md already exists. Choose another file, or use --force.\n",
  })
  expect(readFileSync(join(home.path, "mine.md"), "utf8")).toBe("mine")
  expect(await get("-o", "mine.md", "--force")).toMatchObject({ exitCode: 0 })
  expect(readFileSync(join(home.path, "mine.md"), "utf8")).toStartWith("# ")
})

test.each([
  [["--redact"], "--redact only applies to Markdown and HTML. Add --format md or html, or remove it."],
  [
    ["--include-subagents"],
    "--include-subagents only applies to Markdown and HTML. Add --format md or html, or remove it.",
  ],
  [
    ["-o", "x.pdf"],
    "Cannot write .pdf: use a file that ends with .html, .md, .txt, .json, .atif.json, .otlp.json or .jsonl.",
  ],
  [["-o", "x.txt", "--redact"], "--redact only applies to Markdown and HTML. Add --format md or html, or remove it."],
  [["--format", "md", "--tree"], "--tree cannot be combined with Markdown, which covers a whole session."],
  [["-o", "x.md", "--limit", "3"], "--limit cannot be combined with Markdown, which covers a whole session."],
  [["--format", "pdf"], '--format must be one of text, md, html, atif, otlp, traces, not "pdf".'],
])("%p is refused, and nothing is written", async (args, message) => {
  expect(await get(...args)).toEqual({ exitCode: 2, stdout: "", stderr: `pond: ${message}\n` })
  expect(existsSync(join(home.path, "x.md"))).toBe(false)
})

test("a session that is nowhere, and a place that cannot be written, leave no file", async () => {
  mkdirSync(join(home.path, "folder"))
  const [gone, folder, nowhere] = await Promise.all([
    runPond(["get", "nobody", "-o", "folder/x.md"], { env: home.env, cwd: home.path }),
    get("-o", "folder", "--force"),
    get("-o", "folder/no/x.md"),
  ])
  expect(gone).toMatchObject({ exitCode: 3, stdout: "" })
  expect(folder).toMatchObject({ exitCode: 5, stdout: "" })
  expect(nowhere).toMatchObject({
    exitCode: 5,
    stderr: "pond: Cannot write to folder/no/x.md (ENOENT). Make it writable, or choose another directory.\n",
  })
  expect(readdirSync(join(home.path, "folder"))).toEqual([])
})

test("several sessions are pages in a directory; a page that is there is kept", async () => {
  const other = `${SAMPLE_SESSION_ID.slice(0, -1)}x`
  const wrote = await get("-o", "pages", "--project", "/", "--json")
  expect(JSON.parse(wrote.stdout)).toMatchObject({
    session_ids: [SAMPLE_SESSION_ID],
    file: "pages/index.html",
    pages: 2,
    messages: 2,
  })
  expect(readdirSync(join(home.path, "pages")).toSorted()).toEqual([`${SAMPLE_SESSION_ID}.html`, "index.html"])
  expect(await get("-o", "pages", "--project", "/")).toMatchObject({ exitCode: 8 })
  expect(await get("-o", "pages", "--project", "/", "--force", "--redact")).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("Wrote 1 page and index.html to pages: 2 messages"),
  })
  expect(await get(other, "-o", "more")).toMatchObject({ exitCode: 3 })
  expect(await get(SAMPLE_SESSION_ID, "-o", "more.html")).toMatchObject({ exitCode: 2 })
  expect(await get("-o", "more", "--project", "/", "--tree")).toMatchObject({
    exitCode: 2,
    stderr: "pond: --tree is for one session, and not for several.\n",
  })
})
