/** Somebody else's messages under the id of a stored session: told as a conflict, and nothing of them is stored between. */
import { expect, test } from "bun:test"
import { join } from "node:path"
import { copyStore } from "../../src/archive/copy.ts"
import { exportArchive } from "../../src/archive/export.ts"
import { importArchive } from "../../src/archive/import.ts"
import type { Entry } from "../../src/model/session.ts"
import { type IngestOutput, ingest } from "../../src/operations/wire/ingest.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { MESSAGES, PARTS } from "../../src/sessions/tables.ts"
import { isIn } from "../../src/substrate/filter.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import type { Store } from "../../src/substrate/table.ts"
import { memoryPond } from "../operations/support.ts"
import { said, session, testSessions } from "../sessions/support.ts"
import { place as archivePlace, exported, fill, imported, work } from "./support.ts"

const OWN = [0, 1, 2, 3].map((at) => said("s", at, `own ${at}`))
/** With ids of its own. */
function foreign(at: number, text = `INJECTED ${at}`): Entry {
  const entry = said("s", at, text)
  const id = `x${at}`
  return {
    message: { ...entry.message, id },
    parts: entry.parts.map((part) => ({ ...part, message_id: id, id: `${id}p` })),
  } as unknown as Entry
}
/** A message that is stored, with one part more. */
function lengthened(at: number): Entry {
  const entry = said("s", at, `own ${at}`)
  const [part] = entry.parts
  return {
    ...entry,
    parts: [...entry.parts, { ...part, id: "extra", text: "INJECTED" }],
  } as unknown as Entry
}

const CASES: readonly (readonly [what: string, entries: readonly Entry[], isTaken: boolean])[] = [
  ["is stored already", OWN, true],
  ["continues it", [...OWN, foreign(4, "next")], true],
  ["has only what follows", [foreign(4, "next"), foreign(5, "after")], true],
  ["says something else in the middle", [foreign(2)], false],
  ["has the same beginning and another end", [...OWN.slice(0, 2), foreign(2), foreign(3)], false],
  ["replaces the first message", [foreign(0), ...OWN.slice(1)], false],
  ["continues it and says something else before", [foreign(1), foreign(4)], false],
  ["adds a part to a stored message", [...OWN.slice(0, 3), lengthened(3)], false],
]

const textsOf = async (sessions: Sessions) =>
  JSON.stringify(
    (await sessions.entries("s")).map(({ parts }) => parts.map((part) => ("text" in part ? part.text : ""))),
  )

for (const [what, entries, isTaken] of CASES) {
  test(`an export file that ${what}`, async () => {
    using theirs = testSessions()
    using ours = testSessions()
    await theirs.sessions.write([{ session: session("s"), entries: [...entries] }, BESIDE])
    await ours.sessions.write([{ session: session("s"), entries: OWN }])
    const path = join(theirs.path, "shared.pond")
    await exportArchive(theirs.sessions.store, { path, isForced: false }, { ...work, clock: systemClock })
    const report = await importArchive(ours.sessions, { path, isDryRun: false }, work)
    expect(report.diverging).toEqual(isTaken ? [] : ["s"])
    await isUnharmed(ours.sessions, isTaken)
  })

  test(`a copied store that ${what}`, async () => {
    using theirs = testSessions()
    using ours = testSessions()
    await theirs.sessions.write([{ session: session("s"), entries: [...entries] }, BESIDE])
    await ours.sessions.write([{ session: session("s"), entries: OWN }])
    const report = await copyStore(theirs.sessions, ours.sessions, { isVerifyOnly: false }, work)
    expect(report.diverging).toEqual(isTaken ? [] : ["s"])
    await isUnharmed(ours.sessions, isTaken)
  })

  test(`an ingest that ${what}`, async () => {
    using box = memoryPond()
    await box.place.sessions.write([{ session: session("s"), entries: OWN }])
    const events = [{ session: session("s"), entries }, BESIDE].flatMap((each) => [
      { kind: "session", ...each.session },
      ...each.entries.flatMap(({ message, parts }) => [
        { kind: "message", ...message },
        ...parts.map((part) => ({ kind: "part", ...part })),
      ]),
    ])
    const { results } = (await box.run(ingest, { events })) as IngestOutput
    const [own, beside] = ["s", "beside"].map((id) => results.find((each) => each.session_id === id))
    expect(beside?.status).toBe("stored")
    expect({ isRejected: own?.status === "rejected", code: own?.error?.code }).toEqual({
      isRejected: !isTaken,
      code: isTaken ? undefined : "conflict",
    })
    await isUnharmed(box.place.sessions, isTaken)
  })
}

const BESIDE = { session: session("beside"), entries: [said("beside", 0, "beside")] }

async function isUnharmed(sessions: Sessions, isTaken: boolean): Promise<void> {
  const texts = await textsOf(sessions)
  expect(texts.startsWith('[["own 0"],["own 1"],["own 2"],["own 3"]')).toBe(true)
  if (!isTaken) expect(texts).toBe('[["own 0"],["own 1"],["own 2"],["own 3"]]')
  expect(await sessions.entries("beside")).toHaveLength(1)
}

test("rows that damage has taken come back from an export file of the same store, wherever they stood", async () => {
  using place = testSessions()
  await place.sessions.write([{ session: session("s"), entries: OWN }])
  const path = join(place.path, "backup.pond")
  await exportArchive(place.sessions.store, { path, isForced: false }, { ...work, clock: systemClock })
  await loseMessages(place.path, ["m1", "m2"])
  expect(await textsOf(place.open())).toBe('[["own 0"],["own 3"]]')
  expect((await importArchive(place.open(), { path, isDryRun: false }, work)).diverging).toEqual([])
  expect(await textsOf(place.open())).toBe('[["own 0"],["own 1"],["own 2"],["own 3"]]')
})

/** As a repair does. The table may only lose rows where it is declared as one that can be made again. */
async function loseMessages(path: string, ids: readonly string[]): Promise<void> {
  const context = { log: silentLog, clock: systemClock, random: seededRandom(1) }
  const store = openStore(parseLocation(path, { environment: {} }), context)
  await store.table({ ...PARTS, derived: true }).deleteWhere(isIn("message_id", ids))
  await store.table({ ...MESSAGES, derived: true }).deleteWhere(isIn("id", ids))
  store.close()
}

const HOLED = [OWN[0], OWN[3]] as Entry[]

test("a hole is filled from nowhere but the source", async () => {
  using theirs = testSessions()
  using ours = testSessions()
  await theirs.sessions.write([{ session: session("s"), entries: [foreign(1), foreign(4)] }])
  await ours.sessions.write([{ session: session("s"), entries: HOLED }])
  const path = join(theirs.path, "shared.pond")
  await exportArchive(theirs.sessions.store, { path, isForced: false }, { ...work, clock: systemClock })
  expect((await importArchive(ours.sessions, { path, isDryRun: false }, work)).diverging).toEqual(["s"])
  expect((await copyStore(theirs.sessions, ours.sessions, { isVerifyOnly: false }, work)).diverging).toEqual(["s"])
  const [result] = await ours.sessions.writeArriving([{ session: session("s"), entries: [foreign(1)] }])
  expect(result?.error?.code).toBe("conflict")
  expect(await textsOf(ours.sessions)).toBe('[["own 0"],["own 3"]]')
})

test("what came by the wire is filled by the wire, in any order", async () => {
  using place = testSessions()
  const send = async (entries: Entry[]) =>
    (await place.sessions.writeArriving([{ session: session("s"), entries }])).map(({ status }) => status)
  expect(await send(HOLED)).toEqual(["stored"])
  expect(await send(OWN.slice(1, 3))).toEqual(["stored"])
  expect(await textsOf(place.sessions)).toBe('[["own 0"],["own 1"],["own 2"],["own 3"]]')
})

test("a session that another process stores while it arrives is compared again before a row goes in", async () => {
  using theirs = testSessions()
  using ours = testSessions()
  await theirs.sessions.write([{ session: session("s"), entries: [foreign(0), foreign(1)] }, BESIDE])
  await ours.sessions.write([{ session: session("before"), entries: [said("before", 0, "before")] }])
  const beside = ours.open()
  let isWritten = false
  const onStage = () => {
    if (isWritten) return
    isWritten = true
    return beside.write([{ session: session("s"), entries: OWN }])
  }
  const selection = { ...theirs.sessions, store: withSlowStage(theirs.sessions.store, onStage) }
  const report = await copyStore(selection, ours.sessions, { isVerifyOnly: false }, work)
  expect(report.diverging).toEqual(["s"])
  expect(await textsOf(ours.open())).toBe('[["own 0"],["own 1"],["own 2"],["own 3"]]')
  expect(await ours.open().entries("beside")).toHaveLength(1)
})

/** Another writer comes when the rows of the messages are read for the copy: everything was compared before. */
function withSlowStage(store: Store, onStage: () => Promise<unknown> | undefined): Store {
  return {
    ...store,
    table: (definition) => {
      const table = store.table(definition)
      if (definition.name !== "messages") return table
      return {
        ...table,
        snapshot: async () => {
          const snapshot = await table.snapshot()
          return (
            snapshot && {
              ...snapshot,
              batches: async function* (where) {
                await onStage()
                yield* snapshot.batches(where)
              },
            }
          )
        },
      }
    },
  }
}

test("a store that another process begins to fill during an import gets what is missing, and keeps what is there", async () => {
  using box = archivePlace()
  const source = box.open("source")
  await fill(source, box.file("state"))
  await exported(source, box.file("all.pond"))
  const target = box.open("target")
  const other = box.open("target")
  const first: Sessions = {
    ...target,
    origins: {
      ...target.origins,
      note: async (...noted) => {
        await other.write([{ session: session("another"), entries: [said("another", 0, "meanwhile")] }])
        await target.origins.note(...noted)
      },
    },
  }
  await imported(first, box.file("all.pond"))
  const ids = async (sessions: Sessions) =>
    new Set((await sessions.tables.sessions.read({ columns: ["id"] })).map(({ id }) => id))
  expect(await ids(box.open("target"))).toEqual(new Set([...(await ids(source)), "another"]))
})
