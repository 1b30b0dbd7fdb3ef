/**
 * Law 7 of `src/adapters/adapter.ts`: a session may come from anybody, and nothing of it is written but at paths and under
 * ids of the forms that its client has. `POND_SEED` and `POND_PROPERTY_RUNS` say which hostile ones are tried, and how many.
 */
import { expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Adapter } from "../../src/adapters/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import type { Entry, Session } from "../../src/model/session.ts"
import { restore } from "../../src/operations/machine/restore-operations.ts"
import { isAllowedId, isAllowedPath } from "../../src/restore/allowed-output.ts"
import { foreignFiles, nativeFiles } from "../../src/restore/output-files.ts"
import { memoryPond } from "../operations/support.ts"
import { hostileIds, hostilePaths, OBEYED } from "../support/hostile.ts"
import { fixturesOf, parseUnit, unitsOf } from "./fixtures.ts"

const SEED = Number(process.env["POND_SEED"] ?? 1) || 1
const ROUNDS = Number(process.env["POND_PROPERTY_RUNS"] ?? 1000)

interface Known {
  readonly sessions: readonly { readonly session: Session; readonly entries: readonly Entry[] }[]
  readonly paths: readonly string[]
  readonly ids: readonly string[]
}

async function knownOf(adapter: Adapter): Promise<Known> {
  const sessions: { session: Session; entries: readonly Entry[] }[] = []
  const paths = new Set<string>()
  const ids = new Set<string>()
  for (const { root } of fixturesOf(adapter)) {
    for (const { unit, records } of await unitsOf(adapter, root)) {
      const { session, entries } = parseUnit(adapter, unit, records)
      if (session === undefined) continue
      sessions.push({ session, entries })
      for (const { relativePath } of nativeFiles(adapter, { session, entries })) paths.add(relativePath)
      ids.add(session.id)
      const live = adapter.context({ session, entries }, [])
      const target = { cwd: "/elsewhere", reasoning: "text" as const }
      const written = foreignFiles(adapter, { session, entries: live, children: [] }, target)
      for (const { relativePath } of written.files) paths.add(relativePath)
      ids.add(written.sessionId)
    }
  }
  return { sessions, paths: [...paths], ids: [...ids] }
}

for (const adapter of ADAPTERS) {
  test(`${adapter.id}: its own sessions, and those that are written for it, have the forms that it names`, async () => {
    const { paths, ids } = await knownOf(adapter)
    expect(paths.filter((path) => !isAllowedPath(adapter, path))).toEqual([])
    expect(ids.filter((id) => !isAllowedId(adapter, id))).toEqual([])
  })

  test(`${adapter.id}: no hostile path and no hostile id has them`, async () => {
    const { paths, ids } = await knownOf(adapter)
    const through = [...hostilePaths(SEED, ROUNDS, paths)].filter((path) => isAllowedPath(adapter, path))
    expect(through, `POND_SEED=${SEED}`).toEqual([])
    expect(
      [...hostileIds(SEED, ROUNDS, ids)].filter((id) => isAllowedId(adapter, id)),
      `POND_SEED=${SEED}`,
    ).toEqual([])
  })

  test(`${adapter.id}: the forms begin and end where the path does`, () => {
    const { sessionIds, relativePaths } = adapter.output
    for (const { source } of [sessionIds, ...relativePaths]) {
      expect(source).toStartWith("^")
      expect(source).toEndWith("$")
    }
  })

  test(`${adapter.id}: a session that names a file which its client obeys is refused, and nothing is written`, async () => {
    const [first] = (await knownOf(adapter)).sessions
    if (first === undefined) throw new Error("no fixture")
    for (const path of OBEYED.slice(0, 4)) {
      using box = memoryPond()
      await box.place.sessions.write([{ session: first.session, entries: first.entries.map((each) => at(each, path)) }])
      const root = join(box.place.path, "client")
      const refused = await box
        .run(restore, { session: first.session.id, root })
        .catch(({ code }: { code: string }) => code)
      expect({ path, refused, isThere: existsSync(root) }).toEqual({
        path,
        refused: "validation_failed",
        isThere: false,
      })
    }
  })

  test(`${adapter.id}: a session under an id that reads as a flag is refused, and nothing is written`, async () => {
    const [first] = (await knownOf(adapter)).sessions
    if (first === undefined) throw new Error("no fixture")
    using box = memoryPond()
    const id = "--dangerously-skip-permissions"
    const entries = first.entries.map(({ message, parts }) => ({
      message: { ...message, session_id: id },
      parts: parts.map((part) => ({ ...part, session_id: id })),
    })) as unknown as Entry[]
    await box.place.sessions.write([{ session: { ...first.session, id }, entries }])
    const root = join(box.place.path, "client")
    const refused = await box.run(restore, { session: id, root }).catch(({ code }: { code: string }) => code)
    expect({ refused, isThere: existsSync(root) }).toEqual({ refused: "validation_failed", isThere: false })
  })
}

/** As if its client had written that record to another file. */
function at({ message, parts }: Entry, file: string): Entry {
  const { source = {}, ...options } = message.options
  return { message: { ...message, options: { ...options, source: { ...(source as object), file } } }, parts } as Entry
}
