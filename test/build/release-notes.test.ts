import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { notesOf } from "../../build/release-notes.ts"

const CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.1.0] - 2026-02-01\n\n### Added\n\n- b\n\n## [1.0.0]\n\n- a\n"

test("the notes of a release are its section of the changelog", () => {
  expect(notesOf(CHANGELOG, "1.1.0")).toBe("### Added\n\n- b")
  expect(notesOf(CHANGELOG, "1.0.0")).toBe("- a")
})

test("a version without a section, or with an empty one, has no notes", () => {
  expect(notesOf(CHANGELOG, "1.2.0")).toBeUndefined()
  expect(notesOf(CHANGELOG, "Unreleased")).toBeUndefined()
})

test("the changelog has the form that it names: versions newest first, changes under the six known headings", () => {
  const text = readFileSync(join(import.meta.dir, "../../.github/CHANGELOG.md"), "utf8")
  const versions = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading ?? "")
  expect(versions[0]).toBe("[Unreleased]")
  for (const heading of versions.slice(1)) expect(heading).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/)
  const kinds = [...text.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading ?? "")
  const known = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
  expect(kinds.filter((kind) => !known.includes(kind))).toEqual([])
})
