/** What the tests of the store share: a place on disk that is gone afterwards, and a table with a column of every kind. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import type { StoreContext } from "../../src/substrate/store-context.ts"
import type { Store } from "../../src/substrate/table.ts"
import {
  blob,
  bool,
  defineTable,
  float64,
  int32,
  int64,
  nullable,
  type RowOf,
  timestampUs,
  utf8,
  vector,
} from "../../src/substrate/table-definition.ts"
import { TOMBSTONES, type TombstoneState } from "../../src/substrate/tombstones.ts"
import { createMemoryDisk } from "../support/memory-disk.ts"
import { openMemoryStore } from "../support/memory-store.ts"
import { SEED } from "../support/seed.ts"

export const testContext: StoreContext = { log: silentLog, clock: systemClock, random: seededRandom(SEED) }

export interface TestStore extends Disposable {
  readonly path: string
  readonly store: Store
  /** Another handle of the same place, as another process would have it. */
  open(context?: Partial<StoreContext>): Store
}

export function testStore(): TestStore {
  const path = mkdtempSync(join(tmpdir(), "pond-substrate-"))
  const location = parseLocation(path, { environment: {} })
  const open = (context: Partial<StoreContext> = {}) => openStore(location, { ...testContext, ...context })
  return { path, store: open(), open, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** The same in memory. */
function memoryTestStore(): Omit<TestStore, "path"> {
  const disk = createMemoryDisk()
  const open = () => openMemoryStore(disk)
  return { store: open(), open, [Symbol.dispose]: () => undefined }
}

/** Both implementations of the door. */
export const STORES: readonly (readonly [name: string, make: () => Omit<TestStore, "path">])[] = [
  ["lance", testStore],
  ["memory", memoryTestStore],
]

export const EVERY_KIND = defineTable({
  name: "every_kind",
  columns: {
    group_id: utf8(),
    id: utf8(),
    text: nullable(utf8()),
    small: nullable(int32()),
    large: nullable(int64()),
    ratio: nullable(float64()),
    is_set: nullable(bool()),
    at: nullable(timestampUs()),
    near: nullable(vector(4)),
    payload: nullable(blob()),
  },
  key: ["group_id", "id"],
  indexes: [{ kind: "btree", column: "id" }],
  schemaVersion: 1,
})

export type EveryKind = RowOf<typeof EVERY_KIND.columns>

const EMPTY_ROW: Omit<EveryKind, "group_id" | "id"> = {
  text: null,
  small: null,
  large: null,
  ratio: null,
  is_set: null,
  at: null,
  near: null,
  payload: null,
}

export function row(id: string, values: Partial<EveryKind> = {}): EveryKind {
  return { ...EMPTY_ROW, group_id: "g", id, ...values }
}

export const SCANNED = ["group_id", "id", "text", "small", "large", "ratio", "is_set", "at", "near"] as const

export async function noteTombstone(store: Store, owner: string, turn: number, state: TombstoneState = "erased") {
  const noted = { owner, turn, state, because: null, marks: null, noted_at: BigInt(turn), host: "test" }
  await store.table(TOMBSTONES).insertAbsent([noted])
}
