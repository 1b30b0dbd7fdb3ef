/** Somebody else's messages under the id of a stored session: told as a conflict, and nothing of them is stored between. */
import { expect, test } from "bun:test"
import { join } from "node:path"
import { copyStore } from "../../src/archive/copy.ts"
import { exportArchive } from "../../src/archive/export.ts"
import { importArchive } from "../../src/archive/import.ts"
import type { Entry } from "../../src/model/session.ts"
import { type IngestOutput, ingest } from "../../src/operations/wire/ingest.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { testPond } from "../operations/support.ts"
import { said, session, testSessions } from "../sessions/support.ts"
import { work } from "./support.ts"

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
    using box = testPond()
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

test("rows that damage has taken come back from an export file, wherever they stood", async () => {
  using theirs = testSessions()
  using ours = testSessions()
  await theirs.sessions.write([{ session: session("s"), entries: OWN }])
  await ours.sessions.write([{ session: session("s"), entries: [OWN[0], OWN[3]] as Entry[] }])
  const path = join(theirs.path, "backup.pond")
  await exportArchive(theirs.sessions.store, { path, isForced: false }, { ...work, clock: systemClock })
  expect((await importArchive(ours.sessions, { path, isDryRun: false }, work)).diverging).toEqual([])
  expect(await textsOf(ours.sessions)).toBe('[["own 0"],["own 1"],["own 2"],["own 3"]]')
})
