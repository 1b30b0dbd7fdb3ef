/**
 * Decodes a real store by `src/substrate/FORMAT.md` alone: the tables of the page drive the reader. Only the making of the
 * store uses pond; its rows are read with the Lance library.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { readdirSync, readFileSync, statSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { connect } from "@lancedb/lancedb"
import { systemClock } from "../../src/platform/host/clock.ts"
import { eq } from "../../src/substrate/filter.ts"
import { openNamespaces } from "../../src/substrate/namespaces.ts"
import { bytes, defineTable, packed, utf8 } from "../../src/substrate/table-definition.ts"
import { EVERY_KIND, row, type TestStore, testStore } from "./support.ts"

const PAGE = readFileSync(join(import.meta.dir, "../../src/substrate/FORMAT.md"), "utf8")

// --- The page --------------------------------------------------------------------------------------------------------

/** The rows of the table whose first column has that title, as texts without marks of code. */
function tableOf(title: string): string[][] {
  const lines = PAGE.split("\n")
  const head = lines.findIndex((line) => line.startsWith(`| ${title} `))
  expect(head, `a table of ${title}`).toBeGreaterThan(0)
  const rest = lines.slice(head + 2)
  return rest
    .slice(
      0,
      rest.findIndex((line) => !line.startsWith("|")),
    )
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", "")),
    )
}

const PARTS = new Map(tableOf("part").map(([part = "", pattern = ""]) => [part, pattern]))

function patternOf(file: string): RegExp {
  const spelled = file.split(/(<\w+>)/).map((piece) => {
    if (!piece.startsWith("<")) return RegExp.escape(piece)
    const pattern = PARTS.get(piece)
    expect(pattern, piece).toBeDefined()
    return `(?:${pattern})`
  })
  return new RegExp(`^${spelled.join("")}$`)
}

const FILES = tableOf("file").map(([file = "", content = ""]) => ({ file, content, pattern: patternOf(file) }))
const CODE_POINTS = tableOf("stored").map((cells) =>
  cells.map((cell) => [...cell.matchAll(/U\+([0-9A-F]+)/g)].map(([, hex = ""]) => Number.parseInt(hex, 16))),
)

// --- A store that has every file of the page ---------------------------------------------------------------------------

const ODD_TEXTS = ["plain", "\ud83d", "a \udfff b", "\u{10FFFE}", "\u{10FFFE}\ud800 \u{10FFFE}\ue000", "😀 \ue123", ""]
const PACKED = defineTable({
  name: "packed_kinds",
  columns: { id: utf8(), log: packed(utf8()), raw: bytes() },
  key: ["id"],
  indexes: [],
  schemaVersion: 7,
})

let place: TestStore
let end: (() => Promise<void>) | undefined

beforeAll(async () => {
  place = testStore()
  const { store } = place
  const large = new Uint8Array(200_000).fill(7)
  await store
    .table(EVERY_KIND)
    .insertAbsent(Array.from({ length: 1200 }, (_, at) => row(`${at}`, { payload: at === 3 ? large : null })))
  await store.table(EVERY_KIND).maintain("all")
  await store
    .table(EVERY_KIND)
    .insertAbsent(ODD_TEXTS.map((text, at) => row(`odd ${at}`, { text, near: Float32Array.of(at, 0, 0, 0) })))
  await store.table(PACKED).insertAbsent([{ id: "a", log: "{}", raw: Uint8Array.of(1) }])
  const derived = store.table({ ...EVERY_KIND, name: "derived_kind", derived: true })
  await derived.insertAbsent([row("kept"), row("gone")])
  await derived.deleteWhere(eq("id", "gone"))
  const namespaces = openNamespaces(store, systemClock)
  for (const name of ODD_TEXTS.filter((text) => text !== "")) {
    await namespaces.create(name)
    await (await namespaces.resolve(name)).table(EVERY_KIND).insertAbsent([row("a")])
  }
  await store.withWriteLock(() => Promise.resolve())
  const staging = await store.openStaging()
  end = staging?.end
  await staging?.store.table(EVERY_KIND).insertAbsent([row("staged")])
  const broken = store.table({ ...PACKED, name: "broken" })
  for (const id of ["first", "second"]) await broken.insertAbsent([{ id, log: "", raw: new Uint8Array() }])
  truncateSync(join(place.path, "broken.lance/_versions", newestOf("broken")), 0)
  await place.open().repair()
  expect(
    await place
      .open()
      .table({ ...PACKED, name: "broken" })
      .count(),
  ).toBe(2)
  const [transaction = ""] = readdirSync(join(place.path, "broken.lance/_transactions"))
  truncateSync(join(place.path, "broken.lance/_transactions", transaction), 1)
  await place.open().check({ isDeep: true })
})

afterAll(async () => {
  await end?.()
  place[Symbol.dispose]()
})

const manifestsOf = (table: string) =>
  readdirSync(join(place.path, `${table}.lance/_versions`))
    .filter((name) => name.endsWith(".manifest"))
    .toSorted((one, other) => one.localeCompare(other))
const newestOf = (table: string) => manifestsOf(table)[0] ?? ""

// --- Files -------------------------------------------------------------------------------------------------------------

test("every file of a store is one of the page, and every one of the page is there", () => {
  const paths = readdirSync(place.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(place.path.length + 1))
    // A namespace has the files of a store, and this one, which no other store has.
    .map((path) => (path.endsWith("/.pond/namespace") ? ".pond/namespace" : path))
  expect(paths.length).toBeGreaterThan(FILES.length)
  const found = new Set(paths.map((path) => describedFile(path)))
  expect(found).toEqual(new Set(FILES.map(({ file }) => file)))
})

/** A path that the page spells out is that one, whatever pattern it would fit. */
function describedFile(path: string): string {
  const [described, ...others] = FILES.some(({ file }) => file === path)
    ? FILES.filter(({ file }) => file === path)
    : FILES.filter(({ pattern }) => pattern.test(path))
  expect(described, path).toBeDefined()
  expect(others, path).toEqual([])
  if (described?.content.startsWith("empty")) expect(statSync(join(place.path, path)).size, path).toBe(0)
  return described?.file ?? path
}

test("the locks that the page explains are the locks that it lists", () => {
  const listed = FILES.filter(({ content }) => content === "empty: a lock" || content.startsWith("empty: a lock,"))
  const explained = tableOf("lock").map(([file]) => `.pond/${file}`)
  expect(new Set(explained)).toEqual(new Set(listed.map(({ file }) => file)))
})

test("the durable mark says the newest version", () => {
  for (const table of ["every_kind", "packed_kinds", "derived_kind", "namespaces"]) {
    const mark = readFileSync(join(place.path, ".pond", `${table}.durable`), "utf8")
    expect(mark).toBe(String(versionOf(newestOf(table))))
  }
})

// --- Manifests ---------------------------------------------------------------------------------------------------------

interface Message {
  readonly [field: string]: bigint | Buffer | readonly Message[] | undefined
}

const FIELDS = Map.groupBy(
  tableOf("message").map(([message = "", number = "", field = "", type = ""]) => ({
    message,
    number: Number(number),
    field,
    type,
  })),
  ({ message }) => message,
)
const TAIL = tableOf("offset from the end").map(([offset, size, value]) => ({
  offset: Number(offset),
  size: Number(size),
  value: value ?? "",
}))

const versionOf = (name: string) => BigInt(/(\d+) minus the version/.exec(PAGE)?.[1] ?? 0) - BigInt(name.slice(0, 20))

function decode(message: string, content: Buffer): Message {
  const decoded: Record<string, bigint | Buffer | Message[]> = {}
  for (const [number, value] of protoFields(content)) {
    const known = FIELDS.get(message)?.find((field) => field.number === number)
    if (known === undefined) continue
    const [type = ""] = known.type.split(", ")
    const before = (decoded[known.field] ?? []) as Message[]
    decoded[known.field] = FIELDS.has(type) ? [...before, decode(type, value as Buffer)] : value
  }
  return decoded
}

function* protoFields(content: Buffer): Generator<readonly [number: number, value: bigint | Buffer]> {
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = content.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < content.length) {
    const tag = Number(varint())
    if ((tag & 7) === 0) yield [tag >> 3, varint()]
    else {
      const length = Number(varint())
      yield [tag >> 3, content.subarray(at, at + length)]
      at += length
    }
  }
}

function section(content: Buffer, at: number): Buffer {
  return content.subarray(at + 4, at + 4 + content.readUInt32LE(at))
}

function readManifest(table: string, name: string): { readonly manifest: Message; readonly indexes: Message } {
  const content = readFileSync(join(place.path, `${table}.lance/_versions`, name))
  const [begin, major, minor, magic] = TAIL.map(({ offset, size }) =>
    content.subarray(-offset, content.length - offset + size),
  )
  expect(magic?.toString("latin1")).toBe(TAIL[3]?.value.split(" ")[0] ?? "")
  for (const [at, version] of [
    [1, major],
    [2, minor],
  ] as const) {
    expect(TAIL[at]?.value.endsWith(`: ${version?.readUInt16LE()}`)).toBe(true)
  }
  const manifest = decode("Manifest", section(content, Number(begin?.readBigInt64LE())))
  const indexAt = manifest["index_section"]
  const indexes = indexAt === undefined ? {} : decode("IndexSection", section(content, Number(indexAt)))
  return { manifest, indexes }
}

const many = (value: Message[string]) => (value ?? []) as readonly Message[]
const textIn = (value: Message[string]) => (value as Buffer).toString("utf8")
const count = (value: Message[string]) => Number(value ?? 0n)

test("a manifest says its version, its files with their lengths, and how many rows there are", async () => {
  const lance = await connect(place.path)
  for (const table of ["every_kind", "packed_kinds", "derived_kind", "namespaces"]) {
    const { manifest } = readManifest(table, newestOf(table))
    expect(manifest["version"]).toBe(versionOf(newestOf(table)))
    let rows = 0
    for (const fragment of many(manifest["fragments"])) {
      const [deletion] = many(fragment["deletion_file"])
      rows += count(fragment["physical_rows"]) - count(deletion?.["num_deleted_rows"])
      for (const file of many(fragment["files"])) {
        const path = join(place.path, `${table}.lance/data`, textIn(file["path"]))
        expect(statSync(path).size).toBe(count(file["file_size_bytes"]))
        expect(readFileSync(path).subarray(-4).toString("latin1")).toBe("LANC")
      }
      if (deletion === undefined) continue
      const kind = count(deletion["file_type"]) === 0 ? "arrow" : "bin"
      const name = `${count(fragment["id"])}-${count(deletion["read_version"])}-${deletion["id"]}.${kind}`
      expect(statSync(join(place.path, `${table}.lance/_deletions`, name)).size).toBeGreaterThan(0)
    }
    const opened = await lance.openTable(table)
    expect(rows).toBe(await opened.countRows())
    const numbers = (await opened.query().select(["_rowid"]).withRowId().toArray()).map((each) =>
      Number(each["_rowid"]),
    )
    expect(Math.max(...numbers)).toBeLessThan(count(manifest["next_row_id"]))
  }
  const { manifest } = readManifest("derived_kind", newestOf("derived_kind"))
  expect(many(manifest["fragments"]).flatMap((fragment) => many(fragment["deletion_file"])).length).toBe(1)
})

test("the section of the indexes names the files of each", () => {
  const { indexes } = readManifest("every_kind", newestOf("every_kind"))
  const [index] = many(indexes["indices"])
  expect(textIn(index?.["name"])).toBe("id_btree")
  const [uuid] = many(index?.["uuid"])
  const folder = Buffer.from(uuid?.["uuid"] as Buffer).toString("hex")
  const files = many(index?.["files"])
  expect(files.length).toBeGreaterThan(0)
  for (const file of files) {
    const dashed = folder.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
    const path = join(place.path, "every_kind.lance/_indices", dashed, textIn(file["path"]))
    expect(statSync(path).size).toBe(count(file["size_bytes"]))
  }
})

// --- Columns and values --------------------------------------------------------------------------------------------------

test("columns have the types and the metadata of their kinds, and the schema says its version", async () => {
  const kinds = new Map(
    tableOf("kind").map(([kind = "", type = "", metadata = ""]) => {
      const below = tableOf("metadata of a packed column").map(([name, value]) => `${name}=${value}`)
      const options = metadata === "see below" ? below : metadata.split(" ").filter((option) => option !== "")
      return [kind, { type, options: new Set(options) }] as const
    }),
  )
  const [versionKey = ""] = tableOf("metadata of the schema")[0] ?? []
  const [[keyMark = "", keyTrue] = [], [positionMark = ""] = []] = tableOf("metadata of a key column")
  const lance = await connect(place.path)
  const seen = new Set<string>()
  for (const definition of [EVERY_KIND, PACKED]) {
    const schema = await (await lance.openTable(definition.name)).schema()
    expect(schema.metadata.get(versionKey)).toBe(String(definition.schemaVersion))
    expect(schema.fields.map(({ name }) => name)).toEqual(Object.keys(definition.columns))
    for (const field of schema.fields) {
      const column = Object.entries(definition.columns).find(([name]) => name === field.name)?.[1]
      const kind = column && "isPacked" in column && column.isPacked ? "packed" : (column?.kind ?? "")
      seen.add(kind)
      const known = kinds.get(kind)
      expect(String(field.type), kind).toBe(known?.type.replace("dimension", String(column?.dimension)) ?? "")
      expect(field.nullable).toBe(column?.nullable ?? false)
      const position = (definition.key as readonly string[]).indexOf(field.name)
      const marks = position < 0 ? [] : [`${keyMark}=${keyTrue}`, `${positionMark}=${position + 1}`]
      const options = [...field.metadata].map(([name, value]) => `${name}=${value}`)
      expect(new Set(options), kind).toEqual(new Set([...(known?.options ?? []), ...marks]))
    }
  }
  expect(seen).toEqual(new Set(kinds.keys()))
})

/** By the two rows of the page. */
function originalText(stored: string): string {
  const [[[mark = 0, low = 0, high = 0] = [], [first = 0] = []] = [], [[, twice] = [], [self] = []] = []] = CODE_POINTS
  expect([twice, self]).toEqual([mark, mark])
  const characters = [...stored].map((character) => character.codePointAt(0) ?? 0)
  let original = ""
  for (let at = 0; at < characters.length; at++) {
    const next = characters[at + 1] ?? 0
    if (characters[at] !== mark) original += String.fromCodePoint(characters[at] ?? 0)
    else {
      original += next >= low && next <= high ? String.fromCharCode(next - low + first) : String.fromCodePoint(mark)
      at += 1
    }
  }
  return original
}

async function textsOf(table: string, column: string): Promise<string[]> {
  const rows = await (await (await connect(place.path)).openTable(table)).query().select([column]).toArray()
  return rows.flatMap((each) => (each[column] === null ? [] : [String(each[column])]))
}

test("a text with halves of pairs is read by the page", async () => {
  const stored = await textsOf("every_kind", "text")
  expect(stored).not.toEqual(ODD_TEXTS)
  expect(new Set(stored.map(originalText))).toEqual(new Set(ODD_TEXTS))
})

test("the folder of a namespace is made of its stored name as the page says", async () => {
  const columns = [...PAGE.matchAll(/^\| `(name|folder|created_at)` +\| `(\w+)`/gm)].map(([, name, kind]) => [
    name,
    kind,
  ])
  expect(columns).toEqual([
    ["name", "utf8"],
    ["folder", "utf8"],
    ["created_at", "timestamp_us"],
  ])
  const [names, folders] = [await textsOf("namespaces", "name"), await textsOf("namespaces", "folder")]
  expect(new Set(names.map(originalText))).toEqual(new Set(ODD_TEXTS.filter((each) => each !== "")))
  const digits = Number(/first (\d+) hexadecimal digits of the SHA-256/.exec(PAGE)?.[1])
  const hashed = names.map((name) => `ns-${new Bun.CryptoHasher("sha256").update(name).digest("hex").slice(0, digits)}`)
  expect(folders).toEqual(hashed)
  for (const folder of folders) expect(statSync(join(place.path, folder)).isDirectory()).toBe(true)
})
