import { expect, test } from "bun:test"
import type { Entry } from "../../src/model/session.ts"
import { unpackBlob } from "../../src/sessions/rows/blob-packing.ts"
import { COLUMN_UNITS_MAX, createBlobSink } from "../../src/sessions/rows/oversized.ts"
import type { BlobRow } from "../../src/sessions/tables.ts"
import { memorySessions, said, session } from "./support.ts"

/** How bytes lie in the rows of the blobs: compressed where that is shorter, under the digest of what they stand for. */
const LONG = "the sea is wide, and the night is long. ".repeat(200_000).trim()

function rowOf(text: string): BlobRow {
  const blobs = createBlobSink()
  blobs.putText(text)
  const [row] = blobs.take()
  if (row === undefined) throw new Error("the text was not kept")
  return row
}

/** As builds before this one stored it. */
function plainRowOf(text: string): BlobRow {
  const bytes = Buffer.concat([Uint8Array.of(0), Buffer.from(text)])
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
  return { sha256, size: BigInt(bytes.byteLength), bytes: new Uint8Array(bytes) }
}

function photo(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let state = 1
  for (let at = 0; at < length; at++) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    bytes[at] = state >>> 24
  }
  return bytes
}

async function stored(place: ReturnType<typeof memorySessions>): Promise<readonly { size: bigint; held: number }[]> {
  const rows = await place.sessions.tables.blobs.readBlobs("bytes", { columns: ["size"] })
  return rows.map(({ size, bytes }) => ({ size, held: bytes?.byteLength ?? 0 }))
}

test("a long text takes a fraction of its size, and comes back unit for unit", async () => {
  using place = memorySessions()
  await place.sessions.write([{ session: session("s"), entries: [said("s", 0, LONG)] }])
  const [blob, ...others] = await stored(place)
  expect(others).toEqual([])
  expect(blob?.size).toBe(BigInt(LONG.length + 1))
  expect(blob?.held).toBeLessThan(LONG.length / 100)
  const [entry] = await place.open().entries("s")
  expect(entry?.parts[0]?.type === "text" && entry.parts[0].text === LONG).toBe(true)
})

test.each([
  ["whose pieces would end inside a pair", `x${"🌊".repeat(COLUMN_UNITS_MAX)}`],
  ["that begins and ends with half a pair", `\ude00${"🌊".repeat(COLUMN_UNITS_MAX)}\ud83d`],
  ["of several scripts", "море 海 sea ".repeat(COLUMN_UNITS_MAX / 4)],
])("a text %s comes back unit for unit", async (_, text) => {
  using place = memorySessions()
  await place.sessions.write([{ session: session("s"), entries: [said("s", 0, text)] }])
  const [entry] = await place.open().entries("s")
  expect(entry?.parts[0]?.type === "text" && entry.parts[0].text === text).toBe(true)
})

test("what an earlier build stored as it was is read, and is the same value when it comes again", async () => {
  using place = memorySessions()
  const plain = plainRowOf(LONG)
  await place.sessions.tables.blobs.insertAbsent([plain])
  await place.sessions.write([{ session: session("s"), entries: [said("s", 0, LONG)] }])
  expect(await stored(place)).toEqual([{ size: plain.size, held: LONG.length + 1 }])
  const [entry] = await place.open().entries("s")
  expect(entry?.parts[0]?.type === "text" && entry.parts[0].text === LONG).toBe(true)
  expect(rowOf(LONG).sha256).toBe(plain.sha256)
})

test("a picture, which is compressed already, lies as it is, and a drawing does not", async () => {
  using place = memorySessions()
  const drawing = new TextEncoder().encode("<svg><path/></svg>".repeat(1_000))
  const pictures = [photo(200_000), drawing]
  const entry = {
    ...said("s", 0, ""),
    parts: pictures.map((bytes, index) => ({
      ...{ id: `p${index}`, session_id: "s", message_id: "m0", provenance: "conversational", options: {} },
      ...{ type: "file", media_type: "image/any", data: { base64: Buffer.from(bytes).toString("base64") } },
    })),
  } as Entry
  await place.sessions.write([{ session: session("s"), entries: [entry] }])
  const [smaller, larger] = (await stored(place)).toSorted((left, right) => Number(left.size - right.size))
  expect(larger).toEqual({ size: 200_000n, held: 200_000 })
  expect(smaller?.size).toBe(18_000n)
  expect(smaller?.held).toBeLessThan(1_000)
  const [read] = await place.open().entries("s")
  expect(read?.parts).toEqual(entry.parts)
})

test.each([
  ["of no byte", "", true],
  ["of one", "QQ==", true],
  ["of more than a piece", Buffer.from(photo(7_000_001)).toString("base64"), true],
  ["without its padding", "QQ", false],
  ["with bits that no byte has", "QR==", false],
  ["in lines", "QUJD\nREVG", false],
  ["of another alphabet", "__--", false],
  ["with something behind its end", "QUI=QUJD", false],
  ["that ends in the middle", "QUJDR", false],
  // Too long for a column, as the text that it is.
  ["that differs behind the first piece", `${Buffer.from(photo(6_000_000)).toString("base64")}-_-_`, true],
])("a file whose base64 is one %s comes back letter by letter", async (_, base64, isInBlobs) => {
  using place = memorySessions()
  const part = { type: "file", media_type: "image/any", data: { base64 } } as const
  const frame = { id: "p", session_id: "s", message_id: "m0", provenance: "conversational", options: {} } as const
  await place.sessions.write([
    { session: session("s"), entries: [{ ...said("s", 0, ""), parts: [{ ...frame, ...part }] } as Entry] },
  ])
  expect(await place.sessions.tables.blobs.count()).toBe(isInBlobs ? 1 : 0)
  const [read] = await place.open().entries("s")
  const [found] = read?.parts ?? []
  expect(found?.type === "file" && "base64" in found.data && found.data.base64 === base64).toBe(true)
})

test("bytes that are not those of their row are not taken for them", () => {
  const row = rowOf(LONG)
  expect(unpackBlob(row)?.byteLength).toBe(LONG.length + 1)
  expect(unpackBlob({ ...row, bytes: row.bytes.subarray(0, -8) })).toBeUndefined()
  expect(unpackBlob({ ...row, bytes: photo(row.bytes.byteLength) })).toBeUndefined()
  // A few bytes may claim to be a terabyte: no more is made of them than the row says.
  expect(unpackBlob({ ...row, size: row.size - 1n })).toBeUndefined()
  expect(unpackBlob({ ...row, size: row.size + 1n })).toBeUndefined()
  expect(unpackBlob({ ...row, bytes: null })).toBeUndefined()
})
