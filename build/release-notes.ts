/**
 * `bun build/release-notes.ts`: prints what `.github/CHANGELOG.md` says of the version in `package.json`, which a release
 * publishes as its notes, and how its parts were tried. Fails where the changelog says nothing of it, so that no release goes out unexplained.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { version } from "../package.json"
import { ROOT } from "./release/packages.ts"
import { proofTable } from "./release/proofs.ts"

const CHANGELOG = join(ROOT, ".github/CHANGELOG.md")

/** The text below the heading `## [version]`, to the next heading of that rank; nothing where there is none, or no text. */
export function notesOf(changelog: string, wanted: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((each) => each.startsWith(`[${wanted}]`))
  const notes = section?.slice(section.indexOf("\n")).trim()
  return notes === "" ? undefined : notes
}

function main(): number {
  const notes = notesOf(readFileSync(CHANGELOG, "utf8"), version)
  if (notes === undefined) {
    console.error(`${CHANGELOG} has no section [${version}]. Rename [Unreleased] to [${version}] - YYYY-MM-DD.`)
    return 1
  }
  console.log(`${notes}\n\n${proofTable()}`)
  return 0
}

if (import.meta.main) process.exitCode = main()
