/** What is kept of a bucket on this machine, and the way of the engine to it: `bucket/gateway.ts` and its caches. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../src/platform/host/clock.ts"
import { openBlockStore } from "../../src/substrate/bucket/block-store.ts"
import { openGatewayOf } from "../../src/substrate/bucket/open-gateway.ts"
import { createPartUploads } from "../../src/substrate/bucket/part-uploads.ts"
import { type FetchRange, openRangeCache } from "../../src/substrate/bucket/range-cache.ts"
import { canonicalPath, signRequest } from "../../src/substrate/bucket/sign-request.ts"
import { isIn } from "../../src/substrate/filter.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { ALL, COMMITS, fill, inBucket, ROWS, rowsOf, TABLE } from "../support/damage.ts"
import { type ObjectServer, startObjectServer, TEST_BUCKET, TEST_KEY } from "../support/object-server.ts"
import { testContext } from "./support.ts"

let server: ObjectServer
let folder: string
beforeAll(async () => {
  server = await startObjectServer()
  folder = mkdtempSync(join(tmpdir(), "pond-cache-"))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server.stop()
})

const environment = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
const locationOf = (url: string) => parseLocation(url, { environment })
const cacheOf = (name: string) => ({ folder: join(folder, name), bytesMax: 1_000_000_000 })
const openCached = (url: string, name: string) => openStore(locationOf(url), { ...testContext, cache: cacheOf(name) })
const filesBelow = (path: string) =>
  (readdirSync(path, { recursive: true }) as string[])
    .map((name) => join(path, name))
    .filter((each) => statSync(each).isFile())
const dataReads = () => server.requests.filter(({ kind, key }) => kind === "get" && key.includes("/data/")).length

test("what was uploaded in parts is not read from the bucket either, unless it is more than is held at once", async () => {
  const place = inBucket(server)
  const noise = () => randomBytes(225_000).toString("base64")
  const [first] = ALL as [(typeof ALL)[number]]
  const rows = Array.from({ length: 24 }, (_, at) => ({ ...first, id: `large ${at}`, text: noise() }))
  server.resetCounts()
  await openCached(place.url, "parts").table(TABLE).insertAbsent(rows)
  expect(server.requests.filter(({ kind }) => kind === "put_part").length).toBeGreaterThan(1)
  server.resetCounts()
  const read = await openCached(place.url, "parts")
    .table(TABLE)
    .read({ columns: ["id", "text"] })
  expect(new Map(read.map(({ id, text }) => [id, text]))).toEqual(new Map(rows.map(({ id, text }) => [id, text])))
  expect(dataReads()).toBe(0)
  const uploads = createPartUploads(10)
  const part = (upload: string, number: number) => `partNumber=${number}&uploadId=${upload}`
  uploads.notePart(part("a", 2), Uint8Array.of(3, 4))
  uploads.notePart(part("a", 1), Uint8Array.of(0))
  uploads.notePart(part("a", 1), Uint8Array.of(1, 2))
  expect(uploads.finish("uploadId=a")).toEqual(Uint8Array.of(1, 2, 3, 4))
  expect(uploads.finish("uploadId=a")).toBeUndefined()
  uploads.notePart(part("b", 2), Uint8Array.of(1))
  expect(uploads.finish("uploadId=b")).toBeUndefined()
  for (const number of [1, 2, 3]) uploads.notePart(part("c", number), new Uint8Array(4))
  expect(uploads.finish("uploadId=c")).toBeUndefined()
})

test("what one process has read or written another does not read from the bucket, and a spoilt block is read again", async () => {
  const place = inBucket(server)
  await openCached(place.url, "shared").table(TABLE).insertAbsent(ALL)
  const read = async () =>
    (
      await openCached(place.url, "shared")
        .table(TABLE)
        .read({ columns: ["id", "text"] })
    ).length
  server.resetCounts()
  expect(await read()).toBe(ALL.length)
  expect(dataReads()).toBe(0)
  for (const file of filesBelow(cacheOf("shared").folder)) {
    expect(statSync(file).mode & 0o077).toBe(0)
    const content = readFileSync(file)
    content[content.length - 1] = (content.at(-1) ?? 0) ^ 1
    writeFileSync(file, content)
  }
  expect(await read()).toBe(ALL.length)
  expect(dataReads()).toBeGreaterThan(0)
  server.resetCounts()
  expect(await read()).toBe(ALL.length)
  expect(dataReads()).toBe(0)
})

test("a bucket that was filled anew under the same names shows what it holds now", async () => {
  const place = inBucket(server)
  await openCached(place.url, "anew").table(TABLE).insertAbsent(rowsOf(0))
  expect(await openCached(place.url, "anew").table(TABLE).count()).toBe(ROWS)
  place.end()
  expect(await openCached(place.url, "anew").table(TABLE).count()).toBe(0)
  await inBucket(server, "s3", place.url.split("/").at(-1)).open().table(TABLE).insertAbsent(rowsOf(1).slice(0, 3))
  const rows = await openCached(place.url, "anew")
    .table(TABLE)
    .read({ columns: ["id"] })
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(["row-1-0", "row-1-1", "row-1-2"]))
})

test("nothing of a purge stays on this machine", async () => {
  const place = inBucket(server)
  const store = openCached(place.url, "purged")
  await store.table(TABLE).insertAbsent(ALL)
  expect(filesBelow(cacheOf("purged").folder).some((file) => readFileSync(file).includes("row-0-1"))).toBe(true)
  await store.table(TABLE).purge(isIn("session_id", ["session-0"]))
  expect(filesBelow(folder).filter((file) => file.includes("/purged/"))).toEqual([])
})

test("six writers of the same rows, with answers that get lost, store each once and say so", async () => {
  const place = inBucket(server)
  await place.open().table(TABLE).insertAbsent(rowsOf(99))
  server.setFaults({ latency: { rate: 1, ms: 2 }, dropAnswer: 0.03, writeConflict: 0.05 })
  const stores = Array.from({ length: 6 }, () => place.open())
  const written = await Promise.allSettled(
    stores.map(async (store, at) => {
      const own = [...ALL, ...rowsOf(1000 + at)]
      return (await store.table(TABLE).insertAbsent(own)).inserted
    }),
  )
  server.setFaults({})
  const rows = await place
    .open()
    .table(TABLE)
    .read({ columns: ["id"] })
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
  for (const [at, { status }] of written.entries()) {
    if (status !== "fulfilled") continue
    expect(rows.filter(({ id }) => id.startsWith(`row-${1000 + at}-`)).length).toBe(ROWS)
  }
  expect(written.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(2)
}, 60_000)

test("a commit reads no key of rows that are stored already", async () => {
  const place = inBucket(server)
  await fill(place)
  const writer = place.open().table(TABLE)
  await writer.insertAbsent([{ session_id: "warm", id: "warm", text: "" }])
  server.resetCounts()
  await writer.insertAbsent([{ session_id: "next", id: "next", text: "" }])
  expect(dataReads()).toBe(0)
  expect(server.requests.length).toBeLessThanOrEqual(COMMITS + 4)
})

test("only the engine of this process is answered by its gateway", async () => {
  const gateway = openGatewayOf(locationOf(inBucket(server).url), testContext)
  const url = gateway?.options("guarded")["aws_endpoint"]
  for (const authorization of ["", `AWS4-HMAC-SHA256 Credential=${TEST_KEY.accessKeyId}/x`]) {
    const reply = await fetch(`${url}/${TEST_BUCKET}/`, { headers: { authorization } })
    expect(reply.status).toBe(403)
  }
  gateway?.close()
})

test("the engine reads large files through the gateway, kept or not, and rows as they were given", async () => {
  const place = inBucket(server)
  const text = Array.from({ length: 200_000 }, (_, at) => Bun.hash(`${at}`).toString(36)).join(" ")
  const rows = [0, 1, 2].map((at) => ({ session_id: "long", id: `row-${at}`, text: `${at} ${text}` }))
  const store = openCached(place.url, "large")
  await store.table(TABLE).insertAbsent(rows)
  await store.table(TABLE).maintain("all")
  const [checked] = await store.check({ isDeep: true })
  expect([checked?.damaged, checked?.rows]).toEqual([[], rows.length])
  const found = await openCached(place.url, "other")
    .table(TABLE)
    .read({ columns: ["id", "text"] })
  expect(new Map(found.map(({ id, text: own }) => [id, own]))).toEqual(
    new Map(rows.map(({ id, text: own }) => [id, own])),
  )
}, 30_000)

test("what is asked for at once is one request, and a reader that goes on is read ahead of", async () => {
  const content = new Uint8Array(8_000_000).map((_, at) => at % 251)
  const asked: [number, number][] = []
  const fetchRange: FetchRange = (from, to) => {
    asked.push([from, to])
    return Promise.resolve({ bytes: content.subarray(from, to), size: content.length })
  }
  const cache = openRangeCache(undefined, 64_000_000)
  const read = async (from: number, to: number) => {
    const found = await cache.read("object", { from, to }, fetchRange)
    expect(found?.size).toBe(content.length)
    expect(Buffer.from(found?.bytes ?? []).equals(content.subarray(from, to))).toBe(true)
  }
  await Promise.all([read(1_000_000, 1_000_100), read(1_200_000, 1_200_001), read(1_500_000, 1_600_000)])
  expect(asked.length).toBe(1)
  for (let at = 2_000_000; at < 8_000_000; at += 100_000) await read(at, at + 100_000)
  expect(asked.length).toBeLessThan(10)
  const before = asked.length
  await read(0, content.length)
  await read(content.length - 10, content.length + 10)
  expect(asked.length).toBeLessThanOrEqual(before + 2)
})

test("above its limit a cache on disk loses what was used longest ago", () => {
  const place = join(folder, "swept")
  const blocks = openBlockStore({ folder: place, bytesMax: 50_000, random: { next: () => 0 }, clock: systemClock })
  for (let at = 0; at < 20; at++) {
    blocks.set("object", at, { size: 1, bytes: new Uint8Array(5000) })
    for (const file of filesBelow(place))
      utimesSync(file, statSync(file).mtimeMs / 1000 - 10, statSync(file).mtimeMs / 1000 - 10)
  }
  expect(filesBelow(place).reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThanOrEqual(50_000)
  expect(blocks.get("object", 19)?.bytes.length).toBe(5000)
  expect(blocks.get("object", 0)).toBeUndefined()
})

test("a request is signed as the documentation of S3 signs its example", () => {
  const headers = { "x-amz-date": "ignored" }
  const credentials = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "secret", region: "us-east-1" }
  const url = new URL(`https://examplebucket.s3.amazonaws.com${canonicalPath("/a b/(c)")}`)
  const signed = signRequest(credentials, { method: "GET", url, headers }, Date.UTC(2013, 4, 24))
  expect(url.pathname).toBe("/a%20b/%28c%29")
  expect(signed["x-amz-date"]).toBe("20130524T000000Z")
  expect(signed["authorization"]).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/20130524\/us-east-1\/s3\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
  )
})
