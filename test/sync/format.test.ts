/**
 * Holds `src/sync/FORMAT.md` to a real state file. It is read with SQLite alone and decoded by the tables of that page; only
 * the file itself is made with pond.
 */
import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { pageTables } from "../support/format-page.ts"
import { SESSION, type SyncPlace, sessionId, syncPlace, userLine } from "./support.ts"

const PAGE = pageTables(readFileSync(join(import.meta.dir, "../../src/sync/FORMAT.md"), "utf8"))
const HEAD_BYTES = 4_096
const BLOCK_BYTES = 65_536

function documented(title: string): readonly Readonly<Record<string, string>>[] {
  const found = PAGE.find((table) => table.title === title)
  if (found === undefined) throw new Error(`${title} is not on the page`)
  return found.rows
}

function hash(content: string | Uint8Array, seed = 0n): string {
  return Bun.hash
    .xxHash64(content as string, seed)
    .toString(16)
    .padStart(16, "0")
}

async function synced(place: SyncPlace): Promise<Database> {
  const lines = Array.from({ length: 300 }, (_, at) => userLine(SESSION, at, `${"long ".repeat(60)}${at}`))
  place.write(SESSION, lines)
  place.write(sessionId(2), [userLine(sessionId(2), 1, "other")])
  await place.sync()
  // A sync without changes remembers how the root looks.
  await place.sync()
  const name = `sync-${hash("test")}.v1.sqlite`
  expect(readdirSync(place.state)).toContain(name)
  return new Database(join(place.state, name))
}

test("the tables of a state file are those of the page", async () => {
  using place = syncPlace()
  using database = await synced(place)
  const names = database.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").values().flat()
  expect(names).toEqual(["looks", "projects", "rest", "store", "units"])
  for (const name of names as string[]) {
    const columns = database.query(`PRAGMA table_info(${name})`).all() as Record<string, string | number>[]
    const found = columns.map(({ name: column, type, notnull, pk }) => ({
      column: `\`${column}\``,
      type: String(type),
      null: notnull === 1 ? "no" : "yes",
      key: pk === 0 ? "" : String(pk),
    }))
    const rows = documented(name).map(({ column, type, null: isNull, key }) => ({
      column,
      type: type ?? "",
      null: isNull,
      key: key ?? "",
    }))
    expect(found as unknown, name).toEqual(
      rows.map((row) => ("key" in (documented(name)[0] ?? {}) ? row : { ...row, key: "" })),
    )
  }
})

test("memories, signatures, sums and positions are decoded by the page", async () => {
  using place = syncPlace()
  using database = await synced(place)
  const units = database.query("SELECT * FROM units").all() as Record<string, string>[]
  expect(units).toHaveLength(2)
  const required = documented("Memory").map(({ key = "" }) => key.replaceAll("`", ""))
  for (const { stamp, memory = "", root = "" } of units) {
    const text = memory.slice(0, memory.lastIndexOf(',"sum":"'))
    const parsed = JSON.parse(memory)
    expect(Object.keys(parsed)).toEqual(required)
    expect(hash(`${text}}`)).toBe(parsed.sum)
    expect(parsed.stamp).toBe(stamp)
    let signed = ""
    for (const [path, signature] of Object.entries<string>(parsed.files)) {
      const { size, mtimeMs, ctimeMs, ino } = statSync(join(root, path))
      expect(signature).toBe(`${size}.${mtimeMs}.${ino}|${ctimeMs}`)
      signed += `|${path}:${signature}`
      checkPosition(parsed.positions[path], readFileSync(join(root, path)))
    }
    expect(stamp).toBe(Bun.hash.xxHash64(signed).toString(16))
    expect(parsed.nextOrdinal).toBeGreaterThan(0)
  }
  expect(database.query("SELECT count(*) FROM looks").values()).toEqual([[1]])
})

const POSITION_KEYS = documented("Positions").map(({ key = "" }) => key.replaceAll("`", ""))

function checkPosition(position: Record<string, never>, bytes: Buffer): void {
  expect(Object.keys(position).filter((key) => !POSITION_KEYS.includes(key))).toEqual([])
  const { offset, line, head, tail, sum } = position as unknown as Record<string, never> & {
    offset: number
    line: number
    head: string
    tail: string
    sum: string
  }
  expect(offset).toBe(bytes.length)
  expect(line).toBe(bytes.toString().split("\n").length - 1)
  expect(head).toBe(hash(bytes.subarray(0, Math.min(offset, HEAD_BYTES))))
  expect(tail).toBe(hash(bytes.subarray(Math.max(0, offset - HEAD_BYTES), offset)))
  let blocks = 0n
  let at = 0
  for (; at + BLOCK_BYTES <= offset; at += BLOCK_BYTES)
    blocks = Bun.hash.xxHash64(bytes.subarray(at, at + BLOCK_BYTES), blocks)
  expect(sum).toBe(blocks.toString(16).padStart(16, "0") + hash(bytes.subarray(at), blocks))
}
