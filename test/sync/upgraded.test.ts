import { expect, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pi } from "../../src/adapters/pi/adapter.ts"
import type { SessionLog } from "../../src/model/session.ts"
import { nativeFiles } from "../../src/restore/output-files.ts"
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
    const [file] = nativeFiles(pi, await place.sessions.log(ID))
    return file?.form === "log" ? Array.from(file.lines, (line) => JSON.parse(String(line))) : []
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

  // Two machines that open copies of it each give it separate ids.
  write([...upgraded(v1, "cccc000"), ...after.slice(-1)])
  await sync()
  expect(await place.texts(ID)).toEqual([...texts, "And now?"])
  expect((await sync()).messages.new).toBe(0)
})

// --- What the client itself made of its logs ----------------------------------------------------------------------------

const PI = join(import.meta.dir, "../../fixtures/pi")

/** The one log of a fixture, as lines. */
function logOf(fixture: string): { readonly place: string; readonly id: string; readonly lines: readonly string[] } {
  const [place = ""] = [...new Bun.Glob("*/*.jsonl").scanSync(join(PI, fixture, "root"))]
  const lines = readFileSync(join(PI, fixture, "root", place), "utf8")
    .trimEnd()
    .split("\n")
  return { place, id: (JSON.parse(lines[0] ?? "") as { id: string }).id, lines }
}

test.each([
  ["v1-client", "v1-client-upgraded"],
  ["v2", "v2-upgraded"],
])(
  "a sync after the client wrote %s anew loses nothing, doubles nothing, and tells what the client tells",
  async (old, upgradedTo) => {
    using place = syncPlace()
    const root = join(place.root, "..", "pi")
    const [before, after] = [logOf(old), logOf(upgradedTo)]
    const path = join(root, before.place)
    mkdirSync(join(path, ".."), { recursive: true })
    const sync = () => place.sync({ sources: [{ adapter: pi, root }] })
    writeFileSync(path, before.lines.map((line) => `${line}\n`).join(""))
    await sync()
    const texts = await place.texts(before.id)
    expect(texts.length).toBeGreaterThan(2)

    writeFileSync(path, after.lines.map((line) => `${line}\n`).join(""))
    expect(await sync()).toMatchObject({ sessions: { rewritten: 1, new: 0, failed: 0 } })
    const log = await place.sessions.log(before.id)
    const revised = log.entries.filter(({ message }) => hasRevision(message.options))
    const added = after.lines.length - before.lines.length
    expect(added).toBeGreaterThan(2)
    expect(log.entries.length - revised.length).toBe(after.lines.length)
    expect((await place.texts(before.id)).slice(0, texts.length)).toEqual(texts)
    const [file] = nativeFiles(pi, log)
    const restored = file?.form === "log" ? Array.from(file.lines, (line) => JSON.parse(String(line))) : []
    expect(restored).toEqual(after.lines.map((line) => JSON.parse(line)))
    // The same conversation as if pond had never seen the old log.
    using fresh = syncPlace()
    await fresh.sync({ sources: [{ adapter: pi, root }] })
    const [here, there] = await Promise.all(
      [place, fresh].map(async (each) => toldBy(await each.sessions.log(before.id))),
    )
    expect(here).toEqual(there as unknown[])
    const { messages } = await sync()
    expect(messages.new).toBe(0)
  },
)

test("what an extension said in the first format is known again, though its role has another name now", async () => {
  using place = syncPlace()
  const root = join(place.root, "..", "pi")
  const path = join(root, PLACE)
  mkdirSync(join(path, ".."), { recursive: true })
  const [header, ...v1] = readFileSync(V1, "utf8").trimEnd().split("\n")
  const said = (role: string) => ({ role, customType: "git", content: "The branch is main.", display: true })
  const hook = { type: "message", timestamp: "2026-02-03T04:05:01.500Z", message: said("hookMessage") }
  const lines = [header, JSON.stringify(hook), ...v1].map((line): Line => JSON.parse(line ?? ""))
  const write = (all: readonly Line[]) => writeFileSync(path, all.map((line) => `${JSON.stringify(line)}\n`).join(""))
  write(lines)
  await place.sync({ sources: [{ adapter: pi, root }] })
  const texts = await place.texts(ID)
  expect(texts).toContain("The branch is main.")
  const renamed = upgraded(lines, "aaaa000")
  renamed[1] = { ...renamed[1], message: said("custom") }
  write(renamed)
  await place.sync({ sources: [{ adapter: pi, root }] })
  expect(await place.texts(ID)).toEqual(texts)
})

function hasRevision(options: Record<string, unknown>): boolean {
  return (options["pond"] as { revision_of?: unknown } | undefined)?.revision_of !== undefined
}

function toldBy(log: SessionLog): unknown[] {
  return pi
    .context(log, [])
    .map(({ message, parts }) => [message.role, parts.map(({ id: _, message_id: __, options: ___, ...part }) => part)])
}
