/**
 * `bun run release`: what a release offers for download, in `dist/release`. For each `--target NAME` (without one: this
 * machine) an archive with the executable, its README and its licenses, as `.tar.zst` and `.tar.gz`; and `SHA256SUMS` over
 * all archives that lie there.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { gzipSync } from "node:zlib"
import { version } from "../package.json"
import { type Entry, tar, zstd } from "./release/archive.ts"
import { makeExecutable } from "./release/executable.ts"
import { licensesOf } from "./release/licenses.ts"
import { ROOT } from "./release/packages.ts"
import { hostTarget, orFailure, type Target, targetNamed } from "./release/targets.ts"

const RELEASE = join(ROOT, "dist/release")

export function archivePath(target: Target, ending: "tar.zst" | "tar.gz"): string {
  return join(RELEASE, `pond-${version}-${target.name}.${ending}`)
}

/** Writes both archives of a target and the checksums. */
export async function makeRelease(target: Target): Promise<void> {
  const executable = join(ROOT, `dist/pond-${target.name}`)
  const { packages } = await makeExecutable({ target, out: executable, isRelease: true })
  const folder = `pond-${version}-${target.name}`
  const entry = (path: string, content: Uint8Array): Entry => ({ path: `${folder}/${path}`, content })
  const archive = tar([
    { ...entry("pond", readFileSync(executable)), isExecutable: true },
    ...["README.md", "LICENSE"].map((name) => entry(name, readFileSync(join(ROOT, name)))),
    ...[...licensesOf(packages)].map(([name, text]) => entry(`licenses/${name}`, Buffer.from(text))),
  ])
  mkdirSync(RELEASE, { recursive: true })
  writeFileSync(archivePath(target, "tar.zst"), await zstd(archive))
  writeFileSync(archivePath(target, "tar.gz"), gzipSync(archive, { level: 9 }))
  writeChecksums()
}

function writeChecksums(): void {
  const names = readdirSync(RELEASE).filter((name) => /\.tar\.(?:zst|gz)$/.test(name))
  const lines = names.sort().map((name) => {
    const hash = new Bun.CryptoHasher("sha256").update(readFileSync(join(RELEASE, name))).digest("hex")
    return `${hash}  ${name}\n`
  })
  writeFileSync(join(RELEASE, "SHA256SUMS"), lines.join(""))
}

async function main(): Promise<number> {
  const options = { target: { type: "string", multiple: true, default: [] as string[] } } as const
  const { values } = parseArgs({ args: Bun.argv.slice(2), options })
  const targets = values.target.length === 0 ? [hostTarget()] : values.target.map(targetNamed)
  for (const target of targets) {
    await makeRelease(target)
    console.log(archivePath(target, "tar.zst"))
  }
  return 0
}

if (import.meta.main) process.exitCode = await orFailure("release", main)
