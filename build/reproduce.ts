/**
 * `bun run reproduce [FILE]`: builds the executable of this machine twice, here and in a copy of the last commit elsewhere
 * on the disk, and compares the two to the byte. With FILE, an executable of a release that was built at this path on
 * another machine, it builds once, here. What differs is named by its offset.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { ROOT } from "./release/packages.ts"
import { BuildFailure, orFailure } from "./release/targets.ts"
import { mustRun, networkVariables } from "./trials/trial.ts"

const SHOWN_MAX = 5
const BESIDE = 40

async function build(source: string, out: string, isRelease: boolean): Promise<Buffer> {
  await mustRun([process.execPath, "build/binary.ts", "--out", out, ...(isRelease ? ["--release"] : [])], {
    cwd: source,
    env: { HOME: process.env["HOME"] ?? "" },
  })
  return readFileSync(out)
}

/** The last commit, at another path, with another time on every file and packages that were installed there. */
async function copyElsewhere(scratch: string): Promise<string> {
  if ((await mustRun(["git", "status", "--porcelain"], { cwd: ROOT })) !== "")
    throw new BuildFailure("The tree has changes, so the last commit is not what would be built. Commit them first.")
  const source = join(scratch, "a-longer-name", "of-a-folder")
  mkdirSync(source, { recursive: true })
  await mustRun(["git", "archive", "--output", join(scratch, "source.tar"), "HEAD"], { cwd: ROOT })
  await mustRun(["tar", "--touch", "-xf", join(scratch, "source.tar"), "-C", source])
  // Its packages are installed there: by a link to those of this tree the bundle would name them by another path.
  await mustRun([process.execPath, "install", "--frozen-lockfile"], { cwd: source, env: networkVariables() })
  return source
}

/** Runs of bytes that differ, where they begin and what stands there on each side. */
function differences(left: Buffer, right: Buffer): string[] {
  const found: string[] = []
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length && found.length < SHOWN_MAX; at++) {
    if (left[at] === right[at]) continue
    const shown = (bytes: Buffer) => JSON.stringify(bytes.subarray(at - BESIDE / 2, at + BESIDE).toString("latin1"))
    found.push(`at ${at}: ${shown(left)} and ${shown(right)}`)
    while (at < length && left[at] !== right[at]) at++
  }
  if (left.length !== right.length) found.push(`${left.length} and ${right.length} bytes`)
  return found
}

async function main(): Promise<number> {
  const [released] = Bun.argv.slice(2)
  const scratch = mkdtempSync(join(tmpdir(), "pond-reproduce-"))
  try {
    const here = await build(ROOT, join(scratch, "here"), released !== undefined)
    const there =
      released === undefined
        ? await build(await copyElsewhere(scratch), join(scratch, "there"), false)
        : readFileSync(resolve(released))
    const found = differences(here, there)
    const sha256 = new Bun.CryptoHasher("sha256").update(there).digest("hex")
    if (found.length === 0) console.log(`ok     both are ${there.length} bytes, SHA-256 ${sha256}`)
    for (const line of found) console.log(`WRONG  ${line}`)
    return found.length === 0 ? 0 : 1
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

if (import.meta.main) process.exitCode = await orFailure("reproduce", main)
