/** The object store of the tests, against two clients that others wrote: Bun's for S3, and Lance's for S3 and GCS. */
import { expect, test } from "bun:test"
import { connect } from "@lancedb/lancedb"
import type { Faults } from "./object-faults.ts"
import { type ObjectServer, type StoreKind, startObjectServer, TEST_BUCKET, TEST_KEY } from "./object-server.ts"

function clientOf(server: ObjectServer, changes: Partial<Bun.S3Options> = {}): Bun.S3Client {
  return new Bun.S3Client({ endpoint: server.url, bucket: TEST_BUCKET, ...TEST_KEY, ...changes })
}

function ask(server: ObjectServer, method: string, path: string, headers: Record<string, string> = {}, body?: string) {
  return fetch(`${server.url}/${TEST_BUCKET}/${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
}

const text = (server: ObjectServer, key: string) =>
  new TextDecoder().decode(server.space.get(TEST_BUCKET, key)?.bytes ?? new Uint8Array())

async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    return `no failure but ${JSON.stringify(await work)}`
  } catch (error) {
    return error instanceof Error ? `${"code" in error ? error.code : error.name}` : String(error)
  }
}

// --- Conditional writes -------------------------------------------------------------------------------------------

for (const [name, header] of [
  ["If-None-Match", { "if-none-match": "*" }],
  ["x-goog-if-generation-match", { "x-goog-if-generation-match": "0" }],
] as const) {
  test(`of 20 writers that want to be first by ${name}, one is`, async () => {
    await using server = await startObjectServer({ isOpen: true })
    const writers = Array.from({ length: 20 }, (_, writer) => ask(server, "PUT", "first", header, `writer ${writer}`))
    const statuses = (await Promise.all(writers)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 412)).toHaveLength(19)
    expect(text(server, "first")).toBe(`writer ${statuses.indexOf(200)}`)
  })
}

test("a write that names the version it replaces fails once that version is gone", async () => {
  await using server = await startObjectServer({ isOpen: true })
  const first = await ask(server, "PUT", "key", {}, "one")
  const byEtag = { "if-match": first.headers.get("etag") ?? "" }
  expect((await ask(server, "PUT", "key", byEtag, "two")).status).toBe(200)
  expect((await ask(server, "PUT", "key", byEtag, "three")).status).toBe(412)
  expect((await ask(server, "PUT", "absent", byEtag, "three")).status).toBe(412)
  const second = await ask(server, "HEAD", "key")
  const byGeneration = { "x-goog-if-generation-match": second.headers.get("x-goog-generation") ?? "" }
  expect((await ask(server, "PUT", "key", byGeneration, "two")).status).toBe(200)
  expect((await ask(server, "PUT", "key", byGeneration, "three")).status).toBe(412)
  expect(text(server, "key")).toBe("two")
})

test("an upload in parts is as conditional as a write, and stays open when it loses", async () => {
  await using server = await startObjectServer({ isOpen: true })
  const begun = await (await ask(server, "POST", "key?uploads")).text()
  const upload = /<UploadId>(.*)<\/UploadId>/.exec(begun)?.[1]
  const part = await ask(server, "PUT", `key?partNumber=1&uploadId=${upload}`, {}, "by parts")
  const parts = `<Part><PartNumber>1</PartNumber><ETag>${part.headers.get("etag")}</ETag></Part>`
  const complete = (headers: Record<string, string>, named: string) =>
    ask(
      server,
      "POST",
      `key?uploadId=${upload}`,
      headers,
      `<CompleteMultipartUpload>${named}</CompleteMultipartUpload>`,
    )
  await ask(server, "PUT", "key", {}, "written meanwhile")
  expect((await complete({ "if-none-match": "*" }, parts)).status).toBe(412)
  expect(text(server, "key")).toBe("written meanwhile")
  expect((await complete({}, parts.replace(/<ETag>./, '<ETag>"0'))).status).toBe(400)
  expect(server.space.openUploads()).toBe(1)
  expect((await complete({}, parts)).status).toBe(200)
  expect(text(server, "key")).toBe("by parts")
  expect((await complete({}, parts)).status).toBe(404)
})

// --- Reading, listing, copying, deleting --------------------------------------------------------------------------

test.each([
  ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
  ["bytes=8-", 206, "89", "bytes 8-9/10"],
  ["bytes=8-100", 206, "89", "bytes 8-9/10"],
  ["bytes=-3", 206, "789", "bytes 7-9/10"],
  ["bytes=-100", 206, "0123456789", "bytes 0-9/10"],
  ["bytes=0-1,4-5", 200, "0123456789", null],
])("the range %s is answered with %d and %s", async (range, status, body, place) => {
  await using server = await startObjectServer({ isOpen: true })
  await ask(server, "PUT", "digits", {}, "0123456789")
  const reply = await ask(server, "GET", "digits", { range })
  expect([reply.status, await reply.text(), reply.headers.get("content-range")]).toEqual([status, body, place])
  expect((await ask(server, "GET", "digits", { range: "bytes=10-" })).status).toBe(416)
})

test("a listing in pages of three names every key once, in the order of its bytes", async () => {
  await using server = await startObjectServer({ pageLimit: 3 })
  const client = clientOf(server)
  const names = ["a&b", "a/1", "a/2", "a/b/3", "b", "c+d", "e f", "\u{ffee}", "\u{1f600}", "ü"]
  for (const name of names) await client.write(name, name)
  const found: string[] = []
  let continuationToken: string | undefined
  let pages = 0
  do {
    const page = await client.list(continuationToken === undefined ? {} : { continuationToken })
    found.push(...(page.contents ?? []).map(({ key }) => key))
    continuationToken = page.nextContinuationToken
    pages += 1
  } while (continuationToken !== undefined)
  expect(found).toEqual(["a&b", "a/1", "a/2", "a/b/3", "b", "c+d", "e f", "ü", "\u{ffee}", "\u{1f600}"])
  expect(pages).toBe(4)
})

test("a delimiter folds what lies below it into prefixes, across pages", async () => {
  await using server = await startObjectServer({ pageLimit: 2 })
  const client = clientOf(server)
  for (const name of ["db/a/1", "db/a/2", "db/b/1", "db/c", "db/d/1", "other"]) await client.write(name, "")
  const first = await client.list({ prefix: "db/", delimiter: "/" })
  expect(first.commonPrefixes?.map(({ prefix }) => prefix)).toEqual(["db/a/", "db/b/"])
  const rest = await client.list({
    prefix: "db/",
    delimiter: "/",
    continuationToken: first.nextContinuationToken ?? "",
  })
  expect(rest.contents?.map(({ key }) => key)).toEqual(["db/c"])
  expect(rest.commonPrefixes?.map(({ prefix }) => prefix)).toEqual(["db/d/"])
  expect(rest.isTruncated).toBe(false)
})

test("Bun's client gets back what it wrote, in one piece and in parts, under any name", async () => {
  await using server = await startObjectServer()
  const client = clientOf(server)
  const key = "a b/ü+&%20'\"<>.txt"
  await client.write(key, "hello")
  expect(await client.file(key).text()).toBe("hello")
  const big = new Uint8Array(12 * 1024 * 1024).map((_, at) => at % 251)
  const writer = client.file("big").writer({ partSize: 5 * 1024 * 1024 })
  writer.write(big)
  await writer.end()
  expect(server.counts().put_part).toBe(3)
  expect(Bun.hash(await client.file("big").bytes())).toBe(Bun.hash(big))
  expect((await client.stat("big")).etag).toEndWith('-3"')
  await client.delete(key)
  expect(await client.exists(key)).toBe(false)
})

test("a copy is the same bytes under another name, and a batch delete takes exactly the keys it names", async () => {
  await using server = await startObjectServer({ isOpen: true })
  await ask(server, "PUT", "from%20here", {}, "copied")
  const copy = { "x-amz-copy-source": `/${TEST_BUCKET}/from%20here` }
  expect((await ask(server, "PUT", "to", copy)).status).toBe(200)
  expect((await ask(server, "PUT", "to", { ...copy, "if-none-match": "*" })).status).toBe(412)
  expect(text(server, "to")).toBe("copied")
  const keys = "<Delete><Object><Key>from here</Key></Object><Object><Key>absent</Key></Object></Delete>"
  expect((await ask(server, "POST", "?delete", {}, keys)).status).toBe(200)
  expect(server.space.keys(TEST_BUCKET)).toEqual(["to"])
})

// --- Refusals -----------------------------------------------------------------------------------------------------

test("a wrong key, no key and a bucket that does not exist are refused by their own code", async () => {
  await using server = await startObjectServer()
  expect(await failureOf(clientOf(server, { accessKeyId: "someone-else" }).write("key", "x"))).toBe("AccessDenied")
  expect((await ask(server, "GET", "key")).status).toBe(403)
  expect(await failureOf(clientOf(server, { bucket: "nowhere" }).write("key", "x"))).toBe("NoSuchBucket")
  expect(await failureOf(clientOf(server).file("absent").text())).toBe("NoSuchKey")
  expect(server.requests.map(({ status }) => status)).toEqual([403, 403, 404, 404])
})

test("a body that is not the one that was signed is not stored", async () => {
  await using server = await startObjectServer({ isOpen: true })
  const digest = new Bun.CryptoHasher("sha256").update("what was meant").digest("hex")
  const headers = { "x-amz-content-sha256": digest }
  expect((await ask(server, "PUT", "key", headers, "what arrived")).status).toBe(400)
  expect((await ask(server, "PUT", "key", headers, "what was meant")).status).toBe(200)
})

// --- Faults -------------------------------------------------------------------------------------------------------

test("the same seed gives the same faults, another seed gives others", async () => {
  const statuses = async (seed: number) => {
    await using server = await startObjectServer({ seed, isOpen: true, faults: { internalError: 0.3, slowDown: 0.3 } })
    for (let at = 0; at < 40; at++) await ask(server, "PUT", `key-${at}`, {}, "x")
    return server.requests.map(({ status }) => status)
  }
  const first = await statuses(7)
  expect(new Set(first)).toEqual(new Set([200, 500, 503]))
  expect(await statuses(7)).toEqual(first)
  expect(await statuses(8)).not.toEqual(first)
})

test.each<[fault: keyof Faults, isStored: boolean]>([
  ["dropRequest", false],
  ["dropAnswer", true],
])("after %s the client has an error, and that the write happened is %p", async (fault, isStored) => {
  await using server = await startObjectServer({ isOpen: true, faults: { [fault]: 1 } })
  expect(await failureOf(ask(server, "PUT", "key", {}, "x"))).toMatch(/ConnectionClosed|ECONNRESET|socket/i)
  expect(server.space.keys(TEST_BUCKET)).toEqual(isStored ? ["key"] : [])
  expect(server.requests).toEqual([
    { kind: "put", bucket: TEST_BUCKET, key: "key", status: 0, isConditionalWrite: false, up: 1, down: 0 },
  ])
  server.setFaults({})
  expect((await ask(server, "PUT", "key", {}, "x")).status).toBe(200)
})

test("a cut body is an error and a slow one is whole", async () => {
  await using server = await startObjectServer({ isOpen: true })
  await ask(server, "PUT", "key", {}, "0123456789")
  server.setFaults({ cutBody: 1 })
  expect(await failureOf(ask(server, "GET", "key").then((reply) => reply.text()))).not.toStartWith("no failure")
  server.setFaults({ slowBody: { rate: 1, ms: 2 }, latency: { rate: 1, ms: 2 } })
  expect(await (await ask(server, "GET", "key")).text()).toBe("0123456789")
})

test("only a conditional write meets a write conflict", async () => {
  await using server = await startObjectServer({ isOpen: true, faults: { writeConflict: 1 } })
  expect((await ask(server, "PUT", "key", {}, "x")).status).toBe(200)
  expect((await ask(server, "PUT", "other", { "if-none-match": "*" }, "x")).status).toBe(409)
})

// --- Lance --------------------------------------------------------------------------------------------------------

const WRITERS = 4
const COMMITS = 6

for (const kind of ["s3", "gs"] satisfies StoreKind[]) {
  test(`${kind}: what four writers of one Lance table add at once is there, each row once`, async () => {
    await using server = await startObjectServer({ pageLimit: 7 })
    const open = async () =>
      (await connect(`${kind}://${TEST_BUCKET}/db`, { storageOptions: server.storageOptions(kind) })).openTable("rows")
    const store = await connect(`${kind}://${TEST_BUCKET}/db`, { storageOptions: server.storageOptions(kind) })
    await store.createTable("rows", [{ id: "seed" }])
    const tables = await Promise.all(Array.from({ length: WRITERS }, open))
    await Promise.all(
      tables.map(async (table, writer) => {
        for (let commit = 0; commit < COMMITS; commit++) await table.add([{ id: `${writer}/${commit}` }])
      }),
    )
    const rows: { id: string }[] = await (await open()).query().toArray()
    const wanted = Array.from({ length: WRITERS * COMMITS }, (_, at) => `${at % WRITERS}/${Math.floor(at / WRITERS)}`)
    expect(rows).toHaveLength(WRITERS * COMMITS + 1)
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([...wanted, "seed"]))
    const lost = server.requests.filter(({ status, isConditionalWrite }) => isConditionalWrite && status === 412)
    expect(lost.length).toBeGreaterThan(0)
    expect(server.counts().unknown).toBeUndefined()
  })
}
