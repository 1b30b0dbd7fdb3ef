import { expect, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pi } from "../../src/adapters/pi/adapter.ts"
import { syncPlace } from "./support.ts"

/** The first version of pi gave its entries no ids. A later one that opens such a log writes it anew, with ids of chance. */
const ID = "5d1f0a30-0000-4000-8000-000000000001"
const PLACE = `--projects-alpha--/2026-02-03T04-05-00-000Z_${ID}.jsonl`
const V1 = join(import.meta.dir, "../../fixtures/pi/v1/root", PLACE)

type Line = Record<string, unknown>

function upgraded(lines: readonly Line[], chance: string): Line[] {
  let parentId: string | null = null
  return lines.map((line, index) => {
    if (index === 0) return { ...line, version: 3 }
    const { firstKeptEntryIndex, id: _, parentId: __, ...rest } = line
    const id = `${chance}${index}`
    const kept = typeof firstKeptEntryIndex === "number" ? { firstKeptEntryId: `${chance}${firstKeptEntryIndex}` } : {}
    const entry = { ...rest, id, parentId, ...kept }
    parentId = id
    return entry
  })
}

test("a log of the first version that a later one wrote anew is stored once, restored as it is now, and goes on", async () => {
  using place = syncPlace()
  const root = join(place.root, "..", "pi")
  const path = join(root, PLACE)
  mkdirSync(join(path, ".."), { recursive: true })
  const write = (lines: readonly Line[]) =>
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  const sync = () => place.sync({ sources: [{ adapter: pi, root }] })
  const restored = async () => {
    const [file] = pi.serialize.native(await place.sessions.log(ID)).files
    return file?.form === "log" ? file.lines.map((line) => JSON.parse(String(line))) : []
  }
  const told = async () =>
    pi
      .context(await place.sessions.log(ID), [])
      .map(({ parts }) => parts.map((part) => ("text" in part ? part.text : part.type)))

  const v1 = readFileSync(V1, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Line => JSON.parse(line))
  // The same words at the same moment are two entries.
  v1.push({ ...(v1.at(-1) as Line) })
  write(v1)
  await sync()
  const texts = await place.texts(ID)
  const before = await told()
  expect(texts.length).toBeGreaterThan(2)

  const v3 = upgraded(v1, "aaaa000")
  const more = { type: "message", id: "bbbb0001", parentId: v3.at(-1)?.["id"], timestamp: "2026-02-04T00:00:00.000Z" }
  const after = [...v3, { ...more, message: { role: "user", content: "And now?", timestamp: 1770163200000 } }]
  write(after)
  expect(await sync()).toMatchObject({ sessions: { rewritten: 1, new: 0 } })
  expect(await place.texts(ID)).toEqual([...texts, "And now?"])
  expect(await restored()).toEqual(after)
  expect(await told()).toEqual([...before, ["And now?"]])

  // Two machines that open copies of it each give it ids of their own.
  write([...upgraded(v1, "cccc000"), ...after.slice(-1)])
  await sync()
  expect(await place.texts(ID)).toEqual([...texts, "And now?"])
  expect((await sync()).messages.new).toBe(0)
})
