/**
 * `bun run attack places [--seed N] [--rounds N]`: random hostile paths and ids for every adapter, made of good ones and of
 * the files that clients obey. Says which of them a restore would write.
 */
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { isAllowedId, isAllowedPath } from "../../src/restore/allowed-output.ts"
import { nativeFiles } from "../../src/restore/output-files.ts"
import { fixturesOf, parseUnit, unitsOf } from "../../test/contract/fixtures.ts"
import { hostileIds, hostilePaths } from "../../test/support/hostile.ts"
import { type Chaos, numberFlag, type Outcome } from "../lib/outcome.ts"

const ROUNDS = 1_000_000
const SHOWN_MAX = 5

export const attack: Chaos = {
  summary: "sessions that ask for a path or an id which their client obeys",
  run: async function* (args): AsyncIterable<Outcome> {
    const seed = numberFlag(args, "seed", 1)
    const rounds = numberFlag(args, "rounds", ROUNDS)
    for (const adapter of ADAPTERS) {
      const paths = new Set<string>()
      const ids = new Set<string>()
      for (const { root } of fixturesOf(adapter)) {
        for (const { unit, records } of await unitsOf(adapter, root)) {
          const { session, entries } = parseUnit(adapter, unit, records)
          if (session === undefined) continue
          ids.add(session.id)
          for (const { relativePath } of nativeFiles(adapter, { session, entries })) paths.add(relativePath)
        }
      }
      yield told(`${adapter.id}: paths`, seed, rounds, [
        ...hostilePaths(seed, rounds, [...paths]).filter((path) => isAllowedPath(adapter, path)),
      ])
      yield told(`${adapter.id}: ids`, seed, rounds, [
        ...hostileIds(seed, rounds, [...ids]).filter((id) => isAllowedId(adapter, id)),
      ])
    }
  },
}

function told(what: string, seed: number, rounds: number, through: readonly string[]): Outcome {
  const shown = through.slice(0, SHOWN_MAX).map((each) => `, ${JSON.stringify(each)}`)
  const found = `${through.length} of ${rounds} came through (seed ${seed})${shown.join("")}`
  return { what, isRight: through.length === 0, found }
}
