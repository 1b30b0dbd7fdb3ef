/**
 * `bun run try-install [NAME…]`: a release, installed. Each trial takes the files of `dist/release` and does with them what
 * a person would: the install script in fresh roots, packages by their package managers, the image line by line. What a
 * machine lacks for a trial is said, and that trial counts as not run. `--list` prints the trials.
 *
 *   bun run release --draft --target linux-x64-baseline --target linux-x64-musl --repository https://github.com/OWNER/pond
 *   bun run try-install
 *
 * Needs Linux on x64, and root for most trials. It ends with `N ok, M wrong, K not run`.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, normalize } from "node:path"
import { version } from "../package.json"
import { printOutcome } from "./lib/outcome.ts"
import { ROOT } from "./release/packages.ts"
import { BuildFailure, orFailure } from "./release/targets.ts"
import { outcome, type Trial } from "./trials/trial.ts"
import { TRIALS } from "./trials/trials.ts"

interface Counts {
  ok: number
  wrong: number
  left: number
}

/** Why this machine cannot run it. */
function lacking({ needs, needsRoot, needsFile }: Trial): string | undefined {
  if (needsRoot && process.getuid?.() !== 0) return "it needs root"
  if (needsFile !== undefined && !existsSync(process.env[needsFile] ?? "")) return `${needsFile} names no file`
  const missing = needs.filter((program) => Bun.which(program) === null)
  return missing.length === 0 ? undefined : `${missing.join(", ")} not found`
}

async function runTrial(trial: Trial, folder: string, url: string, counts: Counts): Promise<void> {
  console.log(`\n${trial.name}: ${trial.what}`)
  const reason = lacking(trial)
  if (reason !== undefined) {
    counts.left += 1
    console.log(`-      not run: ${reason}`)
    return
  }
  const scratch = mkdtempSync(join(tmpdir(), `pond-try-${trial.name}-`))
  const count = (each: ReturnType<typeof outcome>) => {
    printOutcome(each)
    counts[each.isRight ? "ok" : "wrong"] += 1
  }
  try {
    for await (const each of trial.run({ folder, version, url, scratch })) count(each)
  } catch (error) {
    count(outcome(trial.name, false, error instanceof Error ? error.message : String(error)))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function main(): Promise<number> {
  const args = Bun.argv.slice(2)
  if (args.includes("--list")) {
    for (const { name, what } of TRIALS) console.log(`${name.padEnd(10)} ${what}`)
    return 0
  }
  const unknown = args.filter((name) => !TRIALS.some((trial) => trial.name === name))
  if (unknown.length > 0) throw new BuildFailure(`No trial is called ${unknown.join(" or ")}.`)
  const folder = join(ROOT, "dist/release")
  if (!existsSync(join(folder, "SHA256SUMS")))
    throw new BuildFailure("There is no release in dist/release: run `bun run release`.")
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => {
      const path = normalize(new URL(url).pathname)
      const file = Bun.file(join(folder, path))
      return file.size > 0 ? new Response(file) : new Response("", { status: 404 })
    },
  })
  const counts: Counts = { ok: 0, wrong: 0, left: 0 }
  for (const trial of TRIALS.filter(({ name }) => args.length === 0 || args.includes(name)))
    await runTrial(trial, folder, server.url.href.replace(/\/$/, ""), counts)
  await server.stop(true)
  console.log(`\n${counts.ok} ok, ${counts.wrong} wrong, ${counts.left} not run`)
  return counts.wrong === 0 ? 0 : 1
}

if (import.meta.main) process.exitCode = await orFailure("try-install", main)
