/**
 * `bun build/older-store.ts COMMIT`: makes `fixtures/older-store`, what the pond of an older commit leaves behind: a store,
 * an export file, and what that pond says is in them. `test/operations/upgrade-store.test.ts` opens both with the pond of
 * today. Run it for the commit of each release, before the next: the last one takes the place of the one before.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { gzipSync } from "node:zlib"
import { ROOT } from "./release/packages.ts"
import { BuildFailure, orFailure } from "./release/targets.ts"
import { mustRun, networkVariables } from "./trials/trial.ts"

const FOLDER = join(ROOT, "fixtures/older-store")

/** The sessions, and where their clients keep them: the same files that the test syncs again. */
export const SOURCES: readonly (readonly [fixture: string, place: string])[] = [
  ["claude-code/compact", ".claude"],
  ["codex/tools", ".codex"],
  ["opencode/tools", ".local/share/opencode"],
  ["pi/tools", ".pi/agent/sessions"],
]

const COUNTED = `SELECT s.id AS session_id, s.source_agent, count(*) AS messages FROM sessions s
  JOIN messages m ON m.session_id = s.id GROUP BY 1, 2 ORDER BY 1`

async function main(): Promise<number> {
  const { positionals } = parseArgs({ args: Bun.argv.slice(2), allowPositionals: true })
  const [commit] = positionals
  if (commit === undefined) throw new BuildFailure("Name the commit of the older pond.")
  const scratch = mkdtempSync(join(tmpdir(), "pond-older-"))
  try {
    const [source, home] = [join(scratch, "source"), join(scratch, "home")]
    for (const folder of [source, home]) mkdirSync(folder)
    const name = (await mustRun(["git", "describe", "--always", "--tags", commit], { cwd: ROOT })).trim()
    await mustRun(["git", "archive", "--output", join(scratch, "source.tar"), commit], { cwd: ROOT })
    await mustRun(["tar", "-xf", join(scratch, "source.tar"), "-C", source])
    await mustRun([process.execPath, "install", "--frozen-lockfile"], { cwd: source, env: networkVariables() })
    for (const [fixture, place] of SOURCES)
      cpSync(join(ROOT, "fixtures", fixture, "root"), join(home, place), { recursive: true })
    const store = join(scratch, "older/store")
    const older = (...words: readonly string[]) =>
      mustRun([process.execPath, join(source, "src/main.ts"), ...words, "--store", store], {
        cwd: home,
        env: { HOME: home },
      })
    await older("sync")
    await older("export", "-o", join(scratch, "older/all.pond"))
    const counted = JSON.parse(await older("sql", COUNTED, "--json", "--quiet"))
    await mustRun(["tar", "--sort=name", "--owner=0", "--group=0", "--mtime=@0", "-cf", "older.tar", "older"], {
      cwd: scratch,
    })
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(join(FOLDER, "older.tar.gz"), gzipSync(readFileSync(join(scratch, "older.tar")), { level: 9 }))
    writeFileSync(
      join(FOLDER, "expected.json"),
      `${JSON.stringify({ by: name, columns: counted.columns, rows: counted.rows }, undefined, 2)}\n`,
    )
    console.log(`${FOLDER}: ${counted.rows.length} sessions of ${name}`)
    return 0
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

if (import.meta.main) process.exitCode = await orFailure("older-store", main)
