import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ON_RUNNERS, ONLY_WRITTEN, proofTable } from "../../build/release/proofs.ts"
import { TARGET_NAMES } from "../../build/release/targets.ts"
import { TRIALS } from "../../build/trials/trials.ts"

const FOLDER = join(import.meta.dir, "../../.github/workflows")
const workflows = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(join(FOLDER, name), "utf8") }))

interface Workflow {
  readonly permissions: object
  readonly jobs: Readonly<Record<string, { readonly permissions?: object; readonly "timeout-minutes"?: number }>>
}

test("every action is pinned to a commit, and says which version that is", () => {
  const used = workflows.flatMap(({ name, text }) =>
    text.split("\n").flatMap((line) => (/\buses:/.test(line) ? [`${name}: ${line.trim()}`] : [])),
  )
  expect(used.length).toBeGreaterThan(5)
  expect(used.filter((line) => !/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
})

test("no job has more rights than it names, or runs without end", () => {
  for (const { text } of workflows) {
    const { permissions, jobs } = Bun.YAML.parse(text) as Workflow
    expect(permissions).toEqual({})
    for (const job of Object.values(jobs)) {
      expect(job.permissions).toBeDefined()
      expect(job["timeout-minutes"]).toBeGreaterThan(0)
    }
  }
})

interface Matrix {
  readonly strategy: { readonly matrix: { readonly include: readonly { target: string; proof: string }[] } }
}

test("a release builds every target once, and lets each prove itself", () => {
  const release = workflows.find(({ name }) => name === "release.yml")
  const { jobs } = Bun.YAML.parse(release?.text ?? "") as { jobs: { build: Matrix } }
  const rows = jobs.build.strategy.matrix.include
  expect(rows.map(({ target }) => target).toSorted(byText)).toEqual(TARGET_NAMES.toSorted(byText))
  for (const { target, proof } of rows) expect(proof).toContain(`pond-${target} doctor`)
})

function byText(left: string, right: string): number {
  return left < right ? -1 : 1
}

test("what the notes of a release say was run on runners, the workflow runs", () => {
  const release = workflows.find(({ name }) => name === "release.yml")?.text ?? ""
  for (const { line } of ON_RUNNERS) expect(release).toContain(line)
  expect(release).toContain("bun run try-install")
  const table = proofTable()
  for (const { name } of TRIALS) expect(table).toContain(`bun run try-install ${name}`)
  for (const { part } of ONLY_WRITTEN) expect(table).toContain(`| ${part}: `)
})

test("dependencies are audited on a schedule", () => {
  const audit = workflows.find(({ name }) => name === "audit.yml")?.text ?? ""
  expect(Bun.YAML.parse(audit)).toMatchObject({ on: { schedule: [{ cron: expect.any(String) }] } })
  expect(audit).toContain("bun audit")
})
