/** Every verb has its wrong ways to be asked: each is one sentence with its code and exit code, and none is a fault of pond's own. */
import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { writeDemo } from "../../build/demo.ts"
import { VERBS } from "../../src/cli/registry.ts"
import { ERROR_TABLE, type ErrorCode } from "../../src/model/errors.ts"
import { temporaryHome } from "../support/pond-process.ts"
import type { RanLine } from "./run-lines.ts"

const SESSION = "de300000-0000-4000-8000-000000000001"

/** A line, its code, and how it begins. `plain` is a file, `folder` a directory, and `nowhere` is not there. */
const MISTAKES: readonly (readonly [line: string, code: ErrorCode, begins: string])[] = [
  ["init now", "validation_failed", '"now" is one word too many'],
  ["init --store ftp://x --yes", "validation_failed", "This storage URL cannot be used"],
  ["init --store plain/x --yes --no-mcp --no-schedule", "storage_unavailable", "The store "],
  ["sync nobody", "validation_failed", 'pond has no adapter "nobody"'],
  ["sync pi --path nowhere", "not_found", "There is no directory nowhere"],
  ["sync claude-code --store plain", "storage_unavailable", "The store "],
  ["sync --only nothing", "validation_failed", "--only takes one of"],
  ["sync --watch --dry-run", "validation_failed", "--dry-run looks once"],
  ["watch nobody", "validation_failed", 'pond has no adapter "nobody"'],
  ["completions", "validation_failed", "SHELL is missing"],
  ["search", "validation_failed", "The query is empty"],
  ["search x --limit 0", "validation_failed", "--limit takes a whole number"],
  ["search x --mode sideways", "validation_failed", "--mode takes one of"],
  ["search x --cursor nonsense", "validation_failed", "The cursor cannot be used"],
  ["search x --similar-to nobody", "not_found", "There is no message nobody"],
  ["get nobody", "not_found", "There is no session and no message nobody"],
  [`get ${SESSION} --after nobody`, "not_found", "The session "],
  ["sql", "validation_failed", "QUERY is missing"],
  ["sql selec", "validation_failed", "The query is no SQL"],
  ["sql DELETE", "validation_failed", "The query is no SQL"],
  ["sql SELECT(1) -o nowhere/x.csv", "storage_unavailable", "pond cannot write to nowhere/x.csv (ENOENT)"],
  [`restore ${SESSION} --to nobody`, "validation_failed", 'pond cannot restore into "nobody"'],
  [`restore ${SESSION} --to codex --root plain`, "storage_unavailable", "pond cannot write to plain"],
  [`restore ${SESSION} --to codex --root plain/x`, "storage_unavailable", "pond cannot write to plain/x (ENOTDIR)"],
  ["restore nobody", "not_found", "There is no session nobody"],
  ["resume", "validation_failed", "SESSION is missing"],
  ["resume nobody", "not_found", "There is no session nobody"],
  [`resume ${SESSION} --to codex --root there --cwd nowhere`, "not_found", "The directory "],
  ["export", "validation_failed", "-o FILE.pond is missing"],
  ["export -o folder", "would_overwrite", ""],
  ["export -o plain/x.pond", "storage_unavailable", "The archive "],
  ["import folder", "validation_failed", "folder is not a file"],
  ["import nowhere", "not_found", "The archive nowhere cannot be opened (ENOENT)"],
  ["copy --to plain", "storage_unavailable", "The store "],
  ["serve --port 99999", "validation_failed", "--port takes a whole number"],
  ["mcp extra", "validation_failed", '"extra" is one word too many'],
  ["status --store plain", "storage_unavailable", "The store "],
  ["stats --by weather", "validation_failed", "--by takes one of"],
  ["stats --from soon", "validation_failed", '"soon" is no date'],
  ["adapters list extra", "validation_failed", '"extra" is one word too many'],
  ["adapters discover nobody", "validation_failed", '"nobody" is one word too many'],
  ["adapters enable", "validation_failed", "ADAPTER is missing"],
  ["adapters disable nobody", "validation_failed", 'pond has no adapter "nobody"'],
  ["schedule start --every never", "validation_failed", "--every takes a time"],
  ["schedule stop extra", "validation_failed", '"extra" is one word too many'],
  ["schedule status extra", "validation_failed", '"extra" is one word too many'],
  ["schedule logs --limit 0", "validation_failed", "--limit takes a whole number"],
  ["skill extra", "validation_failed", '"extra" is one word too many'],
  ["optimize --store plain", "storage_unavailable", "The store "],
  ["storage check folder extra", "validation_failed", '"extra" is one word too many'],
  ["namespace list extra", "validation_failed", '"extra" is one word too many'],
  ["namespace create", "validation_failed", "NAME is missing"],
  ["config --config nowhere", "validation_failed", "The config file nowhere cannot be read"],
  ["doctor extra", "validation_failed", '"extra" is one word too many'],
  ["verify nobody", "validation_failed", 'pond has no adapter "nobody"'],
  ["verify pi --path nowhere", "not_found", "There is no directory nowhere"],
  ["verify --session nobody", "not_found", "No source of these clients holds session nobody"],
  ["verify claude-code --against-store --store plain", "storage_unavailable", "The store "],
]

test("no verb is without a wrong way to be asked", () => {
  const asked = MISTAKES.map(([line]) => line)
  const without = VERBS.filter(({ name }) => !asked.some((line) => `${line} `.startsWith(`${name} `)))
  expect(without.map(({ name }) => name)).toEqual([])
})

test("every wrong way is one sentence with its code, and changes nothing for the next", async () => {
  using home = temporaryHome()
  writeDemo(home.path)
  writeFileSync(join(home.path, "plain"), "x")
  mkdirSync(join(home.path, "folder"))
  const lines = [["sync"], ...MISTAKES.map(([line]) => line.split(" "))]
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "run-lines.ts"), JSON.stringify(lines)], {
    cwd: home.path,
    env: { HOME: home.path, PATH: process.env["PATH"] ?? "" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  })
  const [synced, ...ran]: RanLine[] = JSON.parse(await new Response(child.stdout).text())
  expect(synced).toEqual({ exitCode: 0 } as RanLine)
  expect(ran.map(({ exitCode, error }, at) => [MISTAKES[at]?.[0], exitCode, error?.code])).toEqual(
    MISTAKES.map(([line, code]) => [line, ERROR_TABLE[code].exit, code]),
  )
  for (const [at, [line, , begins]] of MISTAKES.entries()) {
    const message = ran[at]?.error?.message ?? ""
    expect({ line, isAsSaid: message.startsWith(begins), message }).toMatchObject({ isAsSaid: true })
    expect(message).not.toContain("\n")
  }
}, 120_000)
