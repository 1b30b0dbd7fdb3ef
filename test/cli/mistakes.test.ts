/** Every verb has its wrong ways to be asked: each is one sentence with its code and exit code, and none is a fault of pond's own. */
import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { writeDemo } from "../../build/corpus/demo.ts"
import { VERBS } from "../../src/cli/registry.ts"
import { ERROR_TABLE, type ErrorCode } from "../../src/model/errors.ts"
import { temporaryHome } from "../support/pond-process.ts"
import type { RanLine } from "./run-lines.ts"

const SESSION = "de300001-0000-4000-8000-000000000000"

/** A line, its code, and how it begins. `plain` is a file, `folder` a directory, and `nowhere` is not there. */
const MISTAKES: readonly (readonly [line: string, code: ErrorCode, begins: string])[] = [
  ["init now", "validation_failed", 'Unexpected argument "now"'],
  ["init --store ftp://x --yes", "validation_failed", "Invalid storage URL"],
  ["init --store plain/x --yes --no-mcp --no-schedule", "storage_unavailable", "The store "],
  ["sync nobody", "validation_failed", 'Unknown client "nobody"'],
  ["sync pi --path nowhere", "not_found", "No directory nowhere"],
  ["sync claude-code --store plain", "storage_unavailable", "The store "],
  ["sync --only nothing", "validation_failed", "--only must be one of"],
  ["sync --watch --dry-run", "validation_failed", "--dry-run and --watch cannot"],
  ["watch nobody", "validation_failed", 'Unknown client "nobody"'],
  ["completions", "validation_failed", "Missing SHELL"],
  ["search", "validation_failed", "The query is empty"],
  ["list --limit 0", "validation_failed", "--limit must be a whole number"],
  ["list --from soonish", "validation_failed", '"soonish" is not a date'],
  ["list --cursor nonsense", "validation_failed", "Invalid cursor"],
  ["search x --limit 0", "validation_failed", "--limit must be a whole number"],
  ["search x --mode sideways", "validation_failed", "--mode must be one of"],
  ["search x --cursor nonsense", "validation_failed", "Invalid cursor"],
  ["search x --similar-to nobody", "not_found", "No message nobody"],
  [`get ${SESSION} nobody`, "validation_failed", "Several sessions are written as pages into a directory"],
  ["get --project nowhere-is-it -o pages", "not_found", "No session in a project that matches nowhere-is-it"],
  ["get nobody", "not_found", "No session or message nobody"],
  [`get ${SESSION} --after nobody`, "not_found", "Session "],
  ["sql", "validation_failed", "Missing QUERY"],
  ["sql selec", "validation_failed", "Not valid SQL"],
  ["sql DELETE", "validation_failed", "Not valid SQL"],
  ["sql SELECT(1) -o nowhere/x.csv", "storage_unavailable", "Cannot write to nowhere/x.csv (ENOENT)"],
  [`restore ${SESSION} --to nobody`, "validation_failed", 'Cannot restore into "nobody"'],
  [`restore ${SESSION} --to codex --root plain`, "storage_unavailable", "Cannot write to plain"],
  [`restore ${SESSION} --to codex --root plain/x`, "storage_unavailable", "Cannot write to plain/x (ENOTDIR)"],
  ["restore nobody", "not_found", "No session nobody"],
  ["rescue pi", "validation_failed", "Missing --to CLIENT"],
  ["rescue nobody --to pi", "validation_failed", 'Unknown client "nobody"'],
  ["rescue pi --to nobody", "validation_failed", 'Unknown client "nobody"'],
  ["rescue pi --to pi", "validation_failed", "These are sessions of pi already"],
  ["browse", "validation_failed", "pond browse needs a terminal"],
  ["browse --from someday", "validation_failed", '"someday" is not a date'],
  ["resume", "validation_failed", "Missing SESSION"],
  ["resume nobody", "not_found", "No session nobody"],
  [`resume ${SESSION} --to codex --root there --cwd nowhere`, "not_found", "The directory "],
  ["export", "validation_failed", "Missing -o FILE.pond"],
  ["export -o folder", "would_overwrite", ""],
  ["export -o plain/x.pond", "storage_unavailable", "Cannot write the export file"],
  ["import folder", "validation_failed", "folder is not a file"],
  ["import nowhere", "not_found", "Cannot open the export file nowhere (ENOENT)"],
  ["copy --to plain", "storage_unavailable", "The store "],
  ["erase", "validation_failed", "Name what to erase"],
  ["share", "validation_failed", "Name what to share"],
  [`share ${SESSION}`, "validation_failed", "Choose where to share it"],
  ["share nobody --to folder", "not_found", "No session nobody"],
  [`share ${SESSION} --to ftp://x`, "validation_failed", "Invalid storage URL"],
  [`share ${SESSION} --to folder --expires 1h`, "validation_failed", "--expires is for links into a bucket"],
  [`share ${SESSION} --to s3://bucket/x`, "validation_failed", "Cannot share to s3://bucket/x"],
  ["unshare", "validation_failed", "Name what to unshare"],
  ["unshare nobody", "not_found", "Nothing was shared from this machine as nobody"],
  ["exclude list extra", "validation_failed", 'Unexpected argument "extra"'],
  ["exclude add", "validation_failed", "Missing PROJECT"],
  ["exclude remove", "validation_failed", "Missing PROJECT"],
  ["serve --port 99999", "validation_failed", "--port must be a whole number"],
  ["open --port 99999", "validation_failed", "--port must be a whole number"],
  ["open nobody-has-it --port 0", "not_found", "No session nobody-has-it"],
  ["hook", "validation_failed", "Missing EVENT"],
  ["hook sideways", "validation_failed", "EVENT must be one of"],
  ["capture --since soonish", "validation_failed", '"soonish" is not a date'],
  ["capture --printed nowhere", "not_found", "No file nowhere"],
  ["capture --format pdf", "validation_failed", "--format must be one of"],
  ["mcp extra", "validation_failed", 'Unexpected argument "extra"'],
  ["status --store plain", "storage_unavailable", "The store "],
  ["stats --by weather", "validation_failed", "--by must be one of"],
  ["cost --by tool", "validation_failed", "--by must be one of"],
  ["stats --cost --by tool", "validation_failed", "Clients do not record what a tool costs"],
  ["label", "validation_failed", "Missing"],
  ["label nobody-has-it --star", "not_found", "No session"],
  ["config set adapters.disable pi", "validation_failed", 'Unknown setting "adapters.disable"'],
  ["config set storage.s3 secret", "validation_failed", "Credentials do not belong on a command line"],
  ["config set embeddings.sha256 short", "validation_failed", "embeddings.sha256 must"],
  ["config set namespace", "validation_failed", "Missing"],
  ["config unset nothing", "validation_failed", 'Unknown setting "nothing"'],
  ["files", "validation_failed", "Missing"],
  ["blame", "validation_failed", "Missing"],
  ["recover", "validation_failed", "Missing"],
  ["embeddings list extra", "validation_failed", 'Unexpected argument "extra"'],
  ["embeddings use", "validation_failed", "Missing"],
  ["embeddings off extra", "validation_failed", 'Unexpected argument "extra"'],
  ["embeddings status extra", "validation_failed", 'Unexpected argument "extra"'],
  ["stats --from soon", "validation_failed", '"soon" is not a date'],
  ["adapters list extra", "validation_failed", 'Unexpected argument "extra"'],
  ["adapters discover nobody", "validation_failed", 'Unexpected argument "nobody"'],
  ["adapters enable", "validation_failed", "Missing CLIENT"],
  ["adapters disable nobody", "validation_failed", 'Unknown client "nobody"'],
  ["schedule start --every never", "validation_failed", "--every must be a time"],
  ["schedule stop extra", "validation_failed", 'Unexpected argument "extra"'],
  ["schedule status extra", "validation_failed", 'Unexpected argument "extra"'],
  ["schedule logs --limit 0", "validation_failed", "--limit must be a whole number"],
  ["skill extra", "validation_failed", 'Unexpected argument "extra"'],
  ["optimize --store plain", "storage_unavailable", "The store "],
  ["storage check folder extra", "validation_failed", 'Unexpected argument "extra"'],
  ["man extra", "validation_failed", 'Unexpected argument "extra"'],
  ["check --subset 0", "validation_failed", "--subset must be a whole number"],
  ["repair extra", "validation_failed", 'Unexpected argument "extra"'],
  ["secrets --limit 0", "validation_failed", "--limit must be a whole number"],
  ["upgrade --check --from nowhere", "storage_unavailable", "Cannot read release.json from nowhere"],
  ["uninstall extra", "validation_failed", 'Unexpected argument "extra"'],
  ["namespace list extra", "validation_failed", 'Unexpected argument "extra"'],
  ["namespace create", "validation_failed", "Missing NAME"],
  ["config --config nowhere", "validation_failed", "Cannot read the config file nowhere"],
  ["doctor extra", "validation_failed", 'Unexpected argument "extra"'],
  ["verify nobody", "validation_failed", 'Unknown client "nobody"'],
  ["verify pi --path nowhere", "not_found", "No directory nowhere"],
  ["verify --session nobody", "not_found", "No file of these clients contains session nobody"],
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
