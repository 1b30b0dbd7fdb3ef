/**
 * What pond asks of object stores itself, and the notes that it keeps there: the same in S3, in Google's store, and in those
 * that `POND_TEST_STORES` names (`bun run test:azure`), with their credentials in the environment.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { createVerify, generateKeyPairSync } from "node:crypto"
import { join } from "node:path"
import { type BucketFiles, openBucketFiles } from "../../src/substrate/bucket/bucket-files.ts"
import { openBucketTable } from "../../src/substrate/bucket/bucket-table.ts"
import { type Location, parseLocation, within } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { ALL, COMMITS, inBucket, ROWS, rowsOf, TABLE } from "../support/damage.ts"
import { type ObjectServer, startObjectServer } from "../support/object-server.ts"
import { testContext } from "./support.ts"

let server: ObjectServer
beforeAll(async () => {
  server = await startObjectServer({ pageLimit: 3 })
})
afterAll(() => server.stop())

const onTestServer = (kind: "s3" | "gs") => () => {
  const { url, environment } = inBucket(server, kind, `clients-${kind}`)
  return parseLocation(url, { environment })
}
const STORES: readonly (readonly [name: string, locate: () => Location])[] = [
  ["s3", onTestServer("s3")],
  ["gs", onTestServer("gs")],
  ...(process.env["POND_TEST_STORES"] ?? "")
    .split(" ")
    .filter((url) => url !== "")
    .map((url) => [url, () => parseLocation(url, { environment: process.env })] as const),
]
const bytes = (text: string) => new TextEncoder().encode(text)

function open(location: Location): { readonly files: BucketFiles; readonly root: string } {
  const opened = openBucketFiles(location, testContext.clock)
  if (opened === undefined) throw new Error(`no client of ours has access to ${location.shown}`)
  return opened
}

describe.each(STORES)("%s", (_, locate) => {
  const run = crypto.randomUUID().slice(0, 8)
  const place = (name: string) => within(locate(), `${name}-${run}`)

  test("objects are written, listed over pages, read in part, made once and removed", async () => {
    const { files, root } = open(place("objects"))
    const names = ["a", "b & <c>'s", "deep/er (1)", "x%20y", "z é"]
    for (const name of names) await files.write(join(root, "kept", name), `content of ${name}`)
    expect(new Set(await files.list(join(root, "kept")))).toEqual(new Set(names))
    for (const name of names) {
      const path = join(root, "kept", name)
      expect(Buffer.from(await files.read(path)).toString()).toBe(`content of ${name}`)
      expect(Buffer.from(await files.readEnd(path, 4))).toEqual(Buffer.from(`content of ${name}`).subarray(-4))
    }
    const again = open(place("objects")).files
    expect(await again.size(join(root, "kept", "z é"))).toBe(bytes("content of z é").length)
    expect(Math.abs(((await again.modifiedMs(join(root, "kept", "a"))) ?? 0) - Date.now())).toBeLessThan(600_000)
    const once = join(root, "once")
    expect([await files.create(once, bytes("first")), await files.create(once, bytes("second"))]).toEqual([true, false])
    expect(Buffer.from((await files.find(once)) ?? []).toString()).toBe("first")
    await files.append(once, ", more")
    await files.rename(once, join(root, "other"))
    expect([await files.find(once), await files.size(once)]).toEqual([undefined, undefined])
    expect((await files.checksum(join(root, "other")))?.bytes).toBe("first, more".length)
    await files.remove(once)
    expect(await files.list(join(root, "nothing"))).toEqual([])
  })

  test("a data file that is flipped is found by its note, costs its own rows, and a repair ends it", async () => {
    const location = place("notes")
    const store = () => openStore(location, testContext)
    for (let commit = 0; commit < COMMITS; commit++) await store().table(TABLE).insertAbsent(rowsOf(commit))
    const { files, root } = open(location)
    expect((await files.list(join(root, ".pond/commits/messages"))).length).toBe(COMMITS)
    expect((await store().check({ isDeep: true })).flatMap(({ damaged }) => damaged)).toEqual([])
    const { checksums, folder } = openBucketTable(files, root, "messages")
    const [data = ""] = [...(await checksums.read()).files.keys()].filter((path) => path.startsWith("data/"))
    const flipped = Buffer.from(await files.read(join(folder, data)))
    flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] as number) ^ 4
    await files.write(join(folder, data), flipped)
    const [checked] = await store().check({ isDeep: true })
    expect(checked?.damaged.map(({ path }) => path)).toEqual([data])
    expect(checked?.damaged[0]?.groups?.length).toBe(1)
    expect(await store().table(TABLE).count()).toBe(ALL.length - ROWS)
    expect((await store().repair()).map(({ lostRows }) => lostRows)).toEqual([ROWS])
    expect((await store().table(TABLE).insertAbsent(ALL)).inserted).toBe(ROWS)
    expect((await store().check({ isDeep: true })).flatMap(({ damaged }) => damaged)).toEqual([])
  })
})

test("a bucket that is missing is no missing object", async () => {
  for (const kind of ["s3", "gs"] as const) {
    const { url, environment } = inBucket(server, kind, "any")
    const { files } = open(parseLocation(url.replace("pond-test", "no-such-bucket"), { environment }))
    await expect(files.find("any/file")).rejects.toMatchObject({ code: "storage_unavailable" })
  }
})

test("an account of a service signs its own token for Google, and a busy answer is asked again", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const seen: string[] = []
  using google = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      seen.push(request.headers.get("authorization") ?? "")
      return seen.length === 1 ? new Response("busy", { status: 503 }) : new Response("content")
    },
  })
  const account = {
    type: "service_account",
    gcs_base_url: `http://127.0.0.1:${google.port}`,
    client_email: "pond@project.example",
    private_key_id: "key-1",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
  }
  const location = {
    ...parseLocation("gs://bucket/store", { environment: {} }),
    storageOptions: () => ({ google_service_account_key: JSON.stringify(account) }),
  }
  expect(Buffer.from((await open(location).files.find("store/file")) ?? []).toString()).toBe("content")
  expect(seen.length).toBe(2)
  const [head = "", claims = "", signature = ""] = (seen[1] ?? "").replace("Bearer ", "").split(".")
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString())
  expect(read(head)).toEqual({ alg: "RS256", typ: "JWT", kid: "key-1" })
  expect(read(claims)).toMatchObject({ iss: account.client_email, sub: account.client_email })
  expect(read(claims).exp - read(claims).iat).toBe(3600)
  const verify = createVerify("RSA-SHA256").update(`${head}.${claims}`)
  expect(verify.verify(publicKey, Buffer.from(signature, "base64url"))).toBe(true)
})

test("where pond has no credentials of its own, it keeps no notes", () => {
  for (const url of ["gs://bucket/store", "az://container/store", "s3://bucket/store"])
    expect(openBucketFiles(parseLocation(url, { environment: {} }), testContext.clock)).toBeUndefined()
  const account = { AZURE_STORAGE_ACCOUNT: "name" }
  expect(openBucketFiles(parseLocation("az://c/s", { environment: account }), testContext.clock)).toBeUndefined()
})
