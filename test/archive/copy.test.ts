/** A copy goes between any two backends, appends what is absent, and proves by ids that nothing is missing. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { copyStore } from "../../src/archive/copy.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { said, session } from "../sessions/support.ts"
import { type ObjectServer, startObjectServer, TEST_BUCKET, TEST_KEY } from "../support/object-server.ts"
import { fill, logsOf, type Place, place, stoppedAt, work } from "./support.ts"

let server: ObjectServer
let here: Place
let source: Sessions

beforeAll(async () => {
  server = await startObjectServer()
  here = place()
  source = here.open("source")
  await fill(source, here.file("state"))
})
afterAll(async () => {
  here[Symbol.dispose]()
  await server.stop()
})

const environment = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
const bucket = (name: string) =>
  here.openAt(parseLocation(`${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/${name}`, { environment }))

const copied = (from: Sessions, to: Sessions) => copyStore(from, to, { isVerifyOnly: false }, work)
const compared = (from: Sessions, to: Sessions) => copyStore(from, to, { isVerifyOnly: true }, work)

test("from a disk to a bucket and back to another disk, every session comes through", async () => {
  const remote = bucket("there")
  const counts = { ...(await source.counts()), embeddings: 10 }
  const nothing = { sessions: 0, messages: 0, parts: 0, embeddings: 0, blobs: 0 }
  expect(await copied(source, remote)).toMatchObject({
    ok: true,
    copied: counts,
    present: counts,
    missing: nothing,
    extra: nothing,
  })
  const back = here.open("back")
  expect(await copied(remote, back)).toMatchObject({ ok: true, copied: counts })
  expect(await logsOf(back)).toEqual(await logsOf(source))
  expect(await copied(remote, back)).toMatchObject({ ok: true, copied: nothing, present: counts })
})

test("what is missing is named, and what only the target has is counted", async () => {
  const target = here.open("partial")
  await copied(source, target)
  await target.write([{ session: session("own"), entries: [said("own", 0, "only here")] }])
  await source.write([{ session: session("late"), entries: [said("late", 0, "one"), said("late", 1, "two")] }])
  const report = await compared(source, target)
  expect(report).toMatchObject({
    ok: false,
    missing: { sessions: 1, messages: 2, parts: 2, blobs: 0 },
    extra: { sessions: 1, messages: 1, parts: 1 },
  })
  expect(report.examples).toContainEqual({ table: "messages", key: ["late", "m1"] })
  expect(await copied(source, target)).toMatchObject({ ok: true, copied: { sessions: 1, messages: 2, parts: 2 } })
})

test("a copy that was stopped goes on where it was", async () => {
  const target = here.open("stopped")
  const stopped = copyStore(source, target, { isVerifyOnly: false }, stoppedAt(3))
  await expect(stopped).rejects.toMatchObject({ code: "interrupted" })
  expect(await compared(source, target)).toMatchObject({ ok: false })
  expect(await copied(source, target)).toMatchObject({ ok: true })
})

test("sessions that the target has from another project are left out, and what lacks is said", async () => {
  const target = here.open("stranger")
  const [log] = await logsOf(source)
  if (log === undefined) throw new Error("the source is empty")
  await target.write([{ session: { ...log.session, project: "/another" }, entries: [] }])
  const report = await copied(source, target)
  expect(report).toMatchObject({ ok: false, refused: [log.session.id], missing: { messages: log.entries.length } })
})
