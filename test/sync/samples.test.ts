/** Runs where `POND_SAMPLES` names a directory of real sessions, one folder for each client. */
import { expect, test } from "bun:test"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { runSync } from "../../src/sync/sync.ts"
import { syncPlace } from "./support.ts"

const SAMPLES = process.env["POND_SAMPLES"]

test.if(SAMPLES !== undefined)(
  "samples that are imported twice store nothing new, whatever is remembered",
  async () => {
    const state = mkdtempSync(join(tmpdir(), "pond-samples-"))
    using place = syncPlace({ store: "lance" })
    try {
      const roots = ADAPTERS.map((adapter) => ({ adapter, root: join(SAMPLES ?? "", adapter.id) }))
      const sources = roots.filter(({ root }) => existsSync(root))
      expect(sources.length).toBeGreaterThan(2)
      const sync = async (isFull: boolean, stateDirectory: string) => {
        const { adapters } = await runSync({ ...place.request, sources, isFull }, { ...place.context, stateDirectory })
        return adapters.map(({ adapter, messages, parts }) => ({ adapter, new: messages.new + parts.new }))
      }
      const first = await sync(false, place.state)
      expect(first.map(({ new: stored }) => stored > 0)).toEqual(sources.map(() => true))
      const nothing = sources.map(({ adapter }) => ({ adapter: adapter.id, new: 0 }))
      expect(await sync(false, place.state)).toEqual(nothing)
      expect(await sync(true, place.state)).toEqual(nothing)
      expect(await sync(false, state)).toEqual(nothing)
    } finally {
      rmSync(state, { recursive: true })
    }
  },
)
