/** What another client would write is the same, whether its lines and rows are held or lie in a file. */
import { expect, test } from "bun:test"
import type { ForeignTarget, OutputFile } from "../../src/adapters/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { createLineShelf } from "../../src/platform/files/long-lines.ts"
import { foreignFiles } from "../../src/restore/output-files.ts"
import { fixtureLogs, fixturesOf, foreignTargets } from "../contract/fixtures.ts"
import { tempFolder } from "../support/temp-folder.ts"

const TARGET: ForeignTarget = { cwd: "/projects/alpha", reasoning: "text" }

function held(file: OutputFile): unknown {
  if (file.form === "log") return { ...file, lines: [...file.lines] }
  return file.form === "database" ? { ...file, rows: [...file.rows] } : file
}

for (const source of ADAPTERS)
  test.each(foreignTargets().map((target) => [target.id, target] as const))(`${source.id} as %s`, async (_, target) => {
    using folder = tempFolder()
    using shelf = createLineShelf({ path: `${folder.path}/lines`, heldUnits: 100 })
    let lying = 0
    let isOfLines = false
    const newLines = () => {
      lying++
      return shelf.newLines()
    }
    for (const { root } of fixturesOf(source)) {
      for (const log of (await fixtureLogs(source, root)).values()) {
        const conversation = { session: log.session, entries: source.context(log, []), children: [], origin: source }
        const plain = foreignFiles(target, conversation, TARGET)
        const long = foreignFiles(target, conversation, TARGET, newLines)
        isOfLines ||= plain.files.some(({ form }) => form === "log" || form === "database")
        expect(long.files.map(held)).toEqual(plain.files.map(held))
        expect(long.losses).toEqual(plain.losses)
      }
    }
    // A client of whole documents has no lines that could lie anywhere.
    expect(lying > 0).toBe(isOfLines)
  })
