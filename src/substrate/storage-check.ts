/**
 * Proves a store end to end before it is trusted: the same code that keeps sessions writes a separate table there, lets
 * writers meet, reads it back, lists it and removes it. A store whose conditional writes do not hold loses rows when two
 * machines write at once, without any error: that is the step to fear.
 */
import { type PondError, toPondError } from "../model/errors.ts"
import { type Catalog, openCatalog } from "./lance/catalog.ts"
import type { Dataset } from "./lance/dataset.ts"
import { openDataset } from "./lance/open-dataset.ts"
import { countRows, scanNewest } from "./lance/read.ts"
import { insertAbsent } from "./lance/write.ts"
import type { Location } from "./location.ts"
import type { StoreContext } from "./store-context.ts"
import { defineTable, int32, type TableDefinition, utf8 } from "./table-definition.ts"

export type CheckStep = "reach" | "write" | "conditional write" | "read" | "list" | "delete"

export interface CheckedStep {
  readonly step: CheckStep
  readonly ok: boolean
  readonly ms: number
  readonly error?: { readonly code: string; readonly message: string }
}

export interface StorageCheck {
  /** Without credentials. */
  readonly url: string
  readonly ok: boolean
  /** In this order. After the first failure only the cleanup of what was written runs. */
  readonly steps: readonly CheckedStep[]
}

const WRITERS = 6
const ROUNDS = 2

export async function checkStorage(location: Location, context: StoreContext): Promise<StorageCheck> {
  const catalogs = Array.from({ length: WRITERS }, () => openCatalog(location, context))
  const [catalog] = catalogs as [Catalog]
  const definition = checkTable()
  const datasets = catalogs.map((each) => openDataset(each, definition))
  const [dataset] = datasets as [Dataset]
  const steps: CheckedStep[] = []
  const isOk = () => steps.every(({ ok }) => ok)

  async function step(name: CheckStep, work: () => Promise<string | undefined>): Promise<void> {
    const from = context.clock.monotonicMs()
    const failure = await work().catch((error: unknown) => toPondError(error))
    const ms = Math.round(context.clock.monotonicMs() - from)
    steps.push({
      step: name,
      ok: failure === undefined,
      ms,
      ...(failure === undefined ? {} : { error: describeFailure(failure) }),
    })
  }

  const stepIfOk = async (name: CheckStep, work: () => Promise<string | undefined>) => {
    if (isOk()) await step(name, work)
  }

  await step("reach", async () => void (await catalog.names()))
  await stepIfOk("write", async () => void (await insertAbsent(dataset, [{ writer: "first", round: 0 }])))
  await stepIfOk("conditional write", () => raceWriters(datasets))
  await stepIfOk("read", () => readBack(dataset))
  await stepIfOk("list", async () => whyUnlisted(await catalog.names(), definition.name))
  if (isOk() || (await isThere(catalog, definition.name))) await step("delete", () => remove(catalog, definition.name))
  for (const each of catalogs) each.close()
  return { url: location.shown, ok: isOk(), steps }
}

/** A unique name: two checks of one store do not meet. */
function checkTable(): TableDefinition {
  return defineTable({
    name: `storage_check_${crypto.getRandomValues(new Uint8Array(8)).toHex()}`,
    columns: { writer: utf8(), round: int32() },
    key: ["writer", "round"],
    indexes: [],
    schemaVersion: 1,
  }) as unknown as TableDefinition
}

/**
 * Writers that commit at the same moment: where a commit overwrites another, its rows are gone. About once in 170 checks
 * of such a store a writer reads a manifest while it is replaced, and finds it cut: that says the same.
 */
async function raceWriters(datasets: readonly Dataset[]): Promise<string | undefined> {
  const want = 1 + WRITERS * ROUNDS
  const found = await rowsOfAll(datasets).catch((error: unknown) => {
    if (toPondError(error).details["failure"] === "damaged") return "not all can be read"
    throw error
  })
  if (found === want) return undefined
  const are = typeof found === "string" ? found : `${found} are there`
  return `${want} rows were written and ${are}: this store lets one writer overwrite another, so several machines cannot write to it. Use a store with conditional writes.`
}

async function rowsOfAll(datasets: readonly Dataset[]): Promise<number> {
  for (let round = 1; round <= ROUNDS; round++) await writeAtOnce(datasets, round)
  const [dataset] = datasets as [Dataset]
  await dataset.newest()
  return await countRows(dataset)
}

/** Ends when the last of them has ended: one that still wrote would bring back the table that the check removes. */
async function writeAtOnce(datasets: readonly Dataset[], round: number): Promise<void> {
  const ends = await Promise.allSettled(
    datasets.map((each, writer) => insertAbsent(each, [{ writer: `writer-${writer}`, round }])),
  )
  const failed = ends.find((end) => end.status === "rejected")
  if (failed !== undefined) throw failed.reason
}

async function readBack(dataset: Dataset): Promise<string | undefined> {
  const rows = await scanNewest(dataset, { columns: ["writer", "round"] })
  return rows.some((row) => row["writer"] === "first") ? undefined : "what was written does not come back"
}

function whyUnlisted(names: readonly string[], name: string): string | undefined {
  return names.includes(name) ? undefined : "the table that was written is not in the list"
}

/** What failed once is not reported twice: a store that does not say what it has has nothing to be removed. */
async function isThere(catalog: Catalog, name: string): Promise<boolean> {
  return await catalog.names().then(
    (names) => names.includes(name),
    () => false,
  )
}

async function remove(catalog: Catalog, name: string): Promise<string | undefined> {
  await catalog.drop(name)
  return (await catalog.names()).includes(name) ? "what was removed is still in the list" : undefined
}

function describeFailure(failure: PondError | string): { readonly code: string; readonly message: string } {
  if (typeof failure === "string") return { code: "storage_unavailable", message: failure }
  return { code: failure.code, message: failure.message }
}
