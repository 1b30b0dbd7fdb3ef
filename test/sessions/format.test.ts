/**
 * Holds `src/sessions/FORMAT.md` to a real store. Schemas and rows are read with Lance alone and decoded by the tables of
 * that page; only the store itself is made with pond.
 */
import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "@lancedb/lancedb"
import { BLOBS, embeddingsTable, MESSAGES, PARTS, SESSIONS } from "../../src/sessions/tables.ts"
import { TOMBSTONES } from "../../src/substrate/tombstones.ts"
import { type PageTable, pageTables } from "../support/format-page.ts"
import { said, session, type TestSessions, testSessions } from "./support.ts"

const PAGE = join(import.meta.dir, "../../src/sessions/FORMAT.md")
const TABLES = pageTables(readFileSync(PAGE, "utf8"))
const DIMENSION = 4
const DEFINITIONS: readonly { name: string; indexes: readonly { column: string; kind: string }[] }[] = [
  SESSIONS,
  MESSAGES,
  PARTS,
  BLOBS,
  embeddingsTable(DIMENSION),
  TOMBSTONES,
]
const LARGE = "x\ud83d".repeat(3_000_000)

async function fill(place: TestSessions): Promise<void> {
  const { sessions } = place
  const entries = [said("s", 0, "pond://text is text"), said("s", 1, "half \ud83d \u{10FFFE}"), said("s", 2, LARGE)]
  await sessions.write([{ session: session("s", { title: "A title" }), entries }])
  await sessions.write([
    { session: session("fork"), entries: [{ ...said("fork", 0, "half \ud83d \u{10FFFE}", { id: "m1" }) }] },
  ])
  const vectors = sessions.store.table(embeddingsTable(DIMENSION))
  const [row] = await sessions.tables.messages.read({
    columns: ["session_id", "role", "source_agent", "project", "timestamp", "lane", "ingested_at"],
  })
  if (row === undefined) throw new Error("nothing is stored")
  const vector = Float32Array.from({ length: DIMENSION }, (_, at) => at)
  await vectors.insertAbsent([{ ...row, message_id: "m0", model: "m", piece: 0, vector }])
  const gone = { session: session("gone"), entries: [said("gone", 0, "half \ud83d of it", { id: "g" })] }
  await sessions.write([gone])
  await sessions.maintain("all")
  await sessions.erasure.erase([{ id: "gone", because: undefined, why: "asked" }])
}

function documented(name: string): PageTable {
  const heading = name.replace(/^embeddings_\d+$/, "embeddings\\_\\<dimension>")
  const found = TABLES.find(({ title }) => title.startsWith(`${heading}, schema version`))
  if (found === undefined) throw new Error(`${name} is not on the page`)
  return found
}

const VERSION = /schema version (\d+)$/

interface FoundField {
  readonly name: string
  readonly type: unknown
  readonly nullable: boolean
  readonly metadata: ReadonlyMap<string, string>
}

/** The two types that the page describes in words. */
function typeName({ name, type }: FoundField): string {
  const text = String(type)
  if (name === "vector") return text === `FixedSizeList[${DIMENSION}]<Float16>` ? "vector" : text
  return name === "bytes" && /Struct|LargeBinary/.test(text) ? "blob" : text
}

test("every table of a store is on the page, with its version, columns, types, key and indexes", async () => {
  using place = testSessions()
  await fill(place)
  const connection = await connect(place.path)
  const names = readdirSync(place.path).flatMap((name) => (name.endsWith(".lance") ? [name.slice(0, -6)] : []))
  const own = names.filter((name) => !name.startsWith("word_"))
  expect(own.toSorted()).toEqual(["blobs", `embeddings_${DIMENSION}`, "messages", "parts", "sessions", "tombstones"])
  for (const name of own) {
    const table = await connection.openTable(name)
    const schema = await table.schema()
    const page = documented(name)
    expect(schema.metadata.get("pond:schema_version"), name).toBe(VERSION.exec(page.title)?.[1] as string)
    const fields = schema.fields as unknown as readonly FoundField[]
    const found = fields.map((field) => ({
      column: `\`${field.name}\``,
      type: typeName(field),
      null: field.nullable ? "yes" : "no",
      key: field.metadata.get("lance-schema:unenforced-primary-key:position") ?? "",
    }))
    expect(found, name).toEqual(
      page.rows.map(({ column, type, null: isNull, key }) => ({ column, type, null: isNull, key }) as never),
    )
    const declared = new Map(
      DEFINITIONS.find((each) => each.name === name)?.indexes.map((each) => [each.column, each.kind]),
    )
    for (const { column = "", index = "" } of page.rows)
      expect(declared.get(column.replaceAll("`", "")) ?? "", `${name}.${column}`).toBe(index)
  }
})

/** As the page says of values: the escape of lone surrogates first, then the mark of texts that look like a reference. */
function textOf(stored: string): string {
  const text = stored.replace(/\u{10FFFE}([\uE000-\uE7FF]|\u{10FFFE})/gu, (_, mark: string) =>
    mark === "\u{10FFFE}" ? mark : String.fromCharCode(mark.charCodeAt(0) - 0xe000 + 0xd800),
  )
  return text.startsWith("pond://text/") ? text.slice("pond://text/".length) : text
}

test("texts, references, packed bytes, moments and replays are read by the page", async () => {
  using place = testSessions()
  await fill(place)
  const connection = await connect(place.path)
  const parts = (await (await connection.openTable("parts")).query().toArray()) as Record<string, never>[]
  const texts = new Map(parts.map((row) => [`${row["session_id"]} ${row["message_id"]}`, String(row["text"])]))
  expect(textOf(texts.get("s m0") ?? "")).toBe("pond://text is text")
  expect(textOf(texts.get("s m1") ?? "")).toBe("half \ud83d \u{10FFFE}")
  const [, sha256 = ""] = /^pond:\/\/blob\/([0-9a-f]{64})$/.exec(texts.get("s m2") ?? "") ?? []

  const [blob] = await place.sessions.tables.blobs.readBlobs("bytes", { columns: ["sha256", "size"] })
  const stored = blob?.bytes as Uint8Array<ArrayBuffer>
  expect(blob?.sha256).toBe(sha256)
  expect(stored.byteLength).toBeLessThan(Number(blob?.size))
  const bytes = Buffer.from(Bun.zstdDecompressSync(stored))
  expect(bytes.byteLength).toBe(Number(blob?.size))
  expect(new Bun.CryptoHasher("sha256").update(bytes).digest("hex")).toBe(sha256)
  expect([bytes[0], bytes.subarray(1).toString("utf16le") === LARGE]).toEqual([1, true])

  const messages = (await (await connection.openTable("messages")).query().toArray()) as Record<string, never>[]
  const copy = messages.find((row) => row["session_id"] === "fork")
  expect(copy?.["lane"]).toBe("replay" as never)
  expect(JSON.parse(String(copy?.["options"]))).toMatchObject({ pond: { replay_of: "s" } })
  expect(messages.filter((row) => row["lane"] === "main").length).toBe(4)

  const [tombstone] = (await (await connection.openTable("tombstones")).query().toArray()) as Record<string, never>[]
  expect(tombstone).toMatchObject({ owner: "gone", turn: 1, state: "erased", because: null })
  const erased = messages.find((row) => row["session_id"] === "gone") as Record<string, never>
  const text = Bun.hash.xxHash64(textOf(String(erased["search_text"]))).toString(36)
  const mark = Bun.hash.xxHash64(`${Number(erased["timestamp"]) * 1000}:${text} g`)
  expect(Buffer.from(tombstone?.["marks"] as never).readBigUInt64LE()).toBe(mark)
})
