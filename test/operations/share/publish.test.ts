/** Sharing: redacted pages into a bucket, a directory and a gist; asked first; listed and taken back. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { share, unshare } from "../../../src/operations/share/publish/share-operations.ts"
import type { ShareOutput, UnshareOutput } from "../../../src/operations/share/publish/share-shapes.ts"
import { said, session } from "../../sessions/support.ts"
import { type FakePrograms, fakePrograms } from "../../support/fake-programs.ts"
import { type ObjectServer, startObjectServer, TEST_BUCKET, TEST_KEY } from "../../support/object-server.ts"
import { type TestPond, testPond } from "../support.ts"

const SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789abcdefghij"
const GIST = "https://gist.github.com/someone/0123456789abcdef"

let folder: string
let server: ObjectServer
let box: TestPond
let programs: FakePrograms
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "pond-publish-"))
  server = await startObjectServer()
  const gh = `for last; do :; done; if [ "$2" = create ]; then cp "$last" ${folder}/gist.md; fi; echo ${GIST}`
  programs = fakePrograms(folder, { gh })
  box = testPond({
    PATH: programs.path,
    AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId,
    AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey,
    AWS_REGION: "us-east-1",
  })
  await box.place.sessions.write([
    { session: session("first", { title: "Mend it" }), entries: [said("first", 0, `my key is ${SECRET}`)] },
    { session: session("second", { title: "Later" }), entries: [said("second", 0, "hello")] },
  ])
})
afterAll(async () => {
  box[Symbol.dispose]()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const run = async (input: object, hooks: object = {}) =>
  (await share.run({ pond: box.pond, signal: new AbortController().signal, ...hooks }, input)) as ShareOutput
const takeBack = async (input: object) =>
  (await unshare.run({ pond: box.pond, signal: new AbortController().signal }, input)) as UnshareOutput
const bucket = () => `s3+${server.url}/${TEST_BUCKET}/shared`
const listed = async () => (await run({ list: true })).shares

test("a bucket: nothing without a yes; a link that opens the redacted page; taken back", async () => {
  const asked: unknown[] = []
  const confirm = (isAgreed: boolean) => async (plan: unknown) => {
    asked.push(plan)
    return isAgreed
  }
  server.resetCounts()
  expect(await run({ session: ["first"], to: bucket() })).toMatchObject({ action: "plan", shares: [] })
  expect(await run({ session: ["first"], to: bucket() }, { confirm: confirm(false) })).toMatchObject({ action: "plan" })
  expect(server.counts()).toEqual({})
  expect(asked).toMatchObject([{ messages: 1, session_ids: ["first"], replaced: [{ count: 1 }] }])

  const { shares } = await run({ session: ["first"], to: bucket(), expires_seconds: 3600 }, { confirm: confirm(true) })
  const { link = "", id = "", expires_at: end } = shares[0] ?? {}
  expect(new URL(link).searchParams.get("X-Amz-Expires")).toBe("3600")
  expect(Date.parse(end ?? "") - box.pond.host.clock.nowMs()).toBeLessThanOrEqual(3_600_000)
  const fetched = await fetch(link)
  expect(fetched.status).toBe(200)
  const html = await fetched.text()
  expect(html).toContain("<h1>Mend it</h1>")
  expect(html).not.toContain(SECRET)
  // The list keeps no signature, and without one the bucket refuses.
  const [kept] = await listed()
  expect(kept).toMatchObject({ id, link: link.replace(/\?.*/, ""), session_ids: ["first"] })
  expect((await fetch(kept?.link ?? "")).status).toBe(403)

  expect((await takeBack({ share: ["first"] })).removed).toHaveLength(1)
  expect((await fetch(link)).status).toBe(404)
  expect(await listed()).toEqual([])
})

test("several sessions in a bucket: the list links to pages by links that work, and so do they back", async () => {
  const { shares } = await run({ filters: { project: { contains: "/" } }, to: bucket(), yes: true })
  const index = await (await fetch(shares[0]?.link ?? "")).text()
  const links = [...index.matchAll(/<li><a href="([^"]*)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"))
  expect(links).toHaveLength(2)
  for (const link of links) {
    const page = await (await fetch(link)).text()
    const [, back = ""] = /<p><a href="([^"]*)">All sessions/.exec(page) ?? []
    expect((await fetch(back.replaceAll("&amp;", "&"))).status).toBe(200)
  }
  await takeBack({ share: [shares[0]?.id ?? ""] })
})

test("--public links without a signature, and does not expire", async () => {
  const { shares } = await run({ session: ["second"], to: bucket(), public: true, yes: true })
  const { link = "", expires_at: end } = shares[0] ?? {}
  expect(end).toBeNull()
  expect(link).toMatch(/\/shared\/[\w-]{36}\/second\.html$/)
  await expect(run({ session: ["second"], to: bucket(), public: true, expires_seconds: 60 })).rejects.toThrow(
    "does not expire",
  )
  await takeBack({ share: [link] })
})

test("a directory: what is there is kept, and what failed halfway leaves nothing", async () => {
  const to = join(folder, "pages")
  const { shares } = await run({ session: ["second"], to })
  expect(shares[0]?.link).toBe(`file://${to}/second.html`)
  await expect(run({ session: ["first", "second"], to })).rejects.toMatchObject({ code: "would_overwrite" })
  const mine = join(to, "mine.txt")
  await Bun.write(mine, "mine")
  await takeBack({ share: ["second"] })
  expect(readdirSync(to)).toEqual(["mine.txt"])
  expect(readFileSync(mine, "utf8")).toBe("mine")
})

test("a gist is made of Markdown by gh, and deleted by it", async () => {
  const { shares } = await run({ session: ["first"], to: "gist", yes: true })
  expect(shares[0]).toMatchObject({ kind: "gist", link: GIST, files: ["first.md"] })
  expect(readFileSync(join(folder, "gist.md"), "utf8")).toStartWith("# Mend it\n")
  expect(readFileSync(join(folder, "gist.md"), "utf8")).not.toContain(SECRET)
  await takeBack({ share: [GIST] })
  const [made, gone] = programs.calls()
  expect(made).toStartWith("gh gist create --desc Mend it /")
  expect(gone).toBe("gh gist delete 0123456789abcdef --yes")
})

test("what has expired is taken back together", async () => {
  await run({ session: ["first"], to: bucket(), expires_seconds: 60, yes: true })
  expect((await takeBack({ expired: true })).removed).toEqual([])
  const path = join(box.pond.host.path("state"), "shares.json")
  expect(existsSync(path)).toBe(true)
  await Bun.write(path, readFileSync(path, "utf8").replace(/"expires_at": "\d+/, '"expires_at": "2020'))
  expect((await takeBack({ expired: true })).removed).toHaveLength(1)
})
