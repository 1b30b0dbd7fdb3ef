/** Exports of accounts: zips and folders, whole and hostile. A name of a member is never a path, and a size never believed. */
import { afterAll, expect, test } from "bun:test"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Adapter, RawRecord, SourceUnit } from "../../../src/adapters/adapter.ts"
import { chatgpt } from "../../../src/adapters/chatgpt/adapter.ts"
import { claudeAi } from "../../../src/adapters/claude-ai/adapter.ts"
import { arrayElements } from "../../../src/adapters/shared/array-elements.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import { makeZip, type Packed } from "../../support/make-zip.ts"

const scratch = mkdtempSync(join(tmpdir(), "pond-export-"))
afterAll(() => rmSync(scratch, { recursive: true }))

let count = 0

function fileWith(name: string, content: string | Uint8Array): string {
  const path = join(scratch, String(++count), name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

const zipOf = (members: readonly Packed[]) => fileWith("export.zip", makeZip(members))

interface Planned {
  readonly keys: string[]
  readonly issues: string[]
  readonly texts: string[]
}

async function read(adapter: Adapter, root: string): Promise<Planned> {
  const planned: Planned = { keys: [], issues: [], texts: [] }
  const units: SourceUnit[] = []
  for await (const found of adapter.source.plan(root)) {
    if ("files" in found) units.push(found)
    else planned.issues.push(`${found.severity} ${found.found}`)
  }
  for (const unit of units) {
    planned.keys.push(unit.key)
    for await (const { records, issues } of resolve(adapter, unit)) {
      planned.texts.push(...records.map(shown))
      planned.issues.push(...issues.map(({ found }) => found))
    }
  }
  return planned
}

function shown(record: RawRecord): string {
  if ("text" in record) return record.text
  return "bytes" in record ? `${record.bytes.length} bytes` : record.form
}

const talk = (id: string, more: object = {}) => ({ conversation_id: id, title: "t", mapping: {}, ...more })
const chat = (id: string) => ({ uuid: id, chat_messages: [] })

test("each element of an array is found, wherever its bytes are cut", async () => {
  const elements = [{ a: '}]"\\' }, [1, "[", { b: "\\\\" }], { "\u{1F525}{": {} }]
  const bytes = Buffer.from(` [ ${elements.map((each) => JSON.stringify(each)).join(" ,\n")}, 7, "x" ] `)
  for (let size = 1; size < 12; size++) {
    const found: unknown[] = []
    const all = arrayElements(cut(bytes, size))
    for (let next = await all.next(); ; next = await all.next()) {
      if (next.done) {
        expect(next.value).toEqual({ isWhole: true })
        break
      }
      const { from, to, bytes: own = Buffer.alloc(0) } = next.value
      expect(bytes.subarray(from, to).toString()).toBe(Buffer.from(own).toString())
      found.push(JSON.parse(Buffer.from(own).toString()))
    }
    expect(found).toEqual(elements)
  }
})

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  await Promise.resolve()
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

test("a zip, its folder and each form of its file give the same sessions", async () => {
  const array = JSON.stringify([talk("a"), talk("b")])
  const wanted = { keys: ["conversations/a.json", "conversations/b.json"], issues: [] }
  for (const isStored of [undefined, true] as const) {
    const packed = { content: array, ...(isStored && { isStored }) }
    expect(await read(chatgpt, zipOf([{ name: "x/conversations.json", ...packed }]))).toMatchObject(wanted)
  }
  expect(await read(chatgpt, fileWith("conversations.json", array))).toMatchObject(wanted)
  expect(await read(chatgpt, dirname(fileWith("conversations-000.json", array)))).toMatchObject(wanted)
  expect(await read(chatgpt, fileWith("conversations.json", `{"conversations":${array}}`))).toMatchObject(wanted)
  const one = await read(chatgpt, fileWith("conversations.json", JSON.stringify(talk("c"))))
  expect(one).toEqual({ keys: ["conversations/c.json"], issues: [], texts: [JSON.stringify(talk("c"))] })
})

test("sessions of a zip can be read in any order, and each as often as one likes", async () => {
  const talks = Array.from({ length: 50 }, (_, at) => talk(`id-${at}`, { padding: "x".repeat(at * 997) }))
  const path = zipOf([{ name: "conversations.json", content: JSON.stringify(talks) }])
  const units: SourceUnit[] = []
  for await (const unit of chatgpt.source.plan(path)) if ("files" in unit) units.push(unit)
  for (const at of [49, 3, 3, 4, 48, 0, 49]) {
    for await (const { records } of resolve(chatgpt, units[at] as SourceUnit))
      expect(records).toMatchObject([{ text: JSON.stringify(talks[at]) }])
  }
})

test("exports of both products have files of one name: each is read by its own adapter, and the other says nothing", async () => {
  const theirs = zipOf([{ name: "conversations.json", content: JSON.stringify([chat("u")]) }])
  expect(await read(chatgpt, theirs)).toEqual({ keys: [], issues: [], texts: [] })
  expect((await read(claudeAi, theirs)).keys).toEqual(["conversations/u.json"])
  const ours = zipOf([{ name: "conversations.json", content: JSON.stringify([talk("u")]) }])
  expect(await read(claudeAi, ours)).toEqual({ keys: [], issues: [], texts: [] })
})

test("of a session that stands there twice both are read", async () => {
  const array = JSON.stringify([chat("u"), { ...chat("u"), name: "other" }])
  const { keys } = await read(claudeAi, fileWith("conversations.json", array))
  expect(keys).toEqual(["conversations/u.json", "conversations/u.2.json"])
})

test("names of members are no paths, and other members are left alone", async () => {
  const content = JSON.stringify([talk("../../escaped"), talk("-rf"), talk("a/b")])
  const path = zipOf([
    { name: "../../../tmp/conversations.json", content },
    { name: "/etc/file_00000000aa01.dat", content: "x" },
    { name: "user.json", content: '{"email":"nobody@example.com"}' },
  ])
  const { keys, issues } = await read(chatgpt, path)
  expect({ keys, issues }).toEqual({ keys: [], issues: Array(3).fill("fault a session without an id") })
  expect(existsSync(join(dirname(path), "escaped.json"))).toBe(false)
})

test.each([
  ["a member that inflates to more than it says", { said: 10 }, "conversations.json is larger than the zip says"],
  ["one that says more than it can be", { said: 2 ** 31 }, "conversations.json says that it is larger than it can be"],
  ["one that says more than it is", { said: 5000 }, "conversations.json ends too early"],
  ["another method", { method: 99 }, "conversations.json is packed by a method that pond cannot read (99)"],
] as const)("%s is refused", async (_, fields, found) => {
  const content = JSON.stringify([talk("a", { padding: "x".repeat(4000) })])
  const { issues } = await read(chatgpt, zipOf([{ name: "conversations.json", content, ...fields }]))
  expect(issues).toContain(`fault ${found}`)
})

test("a zip in which no sessions are named is not passed over in silence", async () => {
  const path = zipOf([{ name: "c\u00f6nversations.json", content: JSON.stringify([talk("u")]) }])
  expect((await read(chatgpt, path)).issues).toEqual(["note a zip in which no sessions are named"])
})

test("what is no zip, and one that was cut off, are said", async () => {
  const whole = makeZip([{ name: "conversations.json", content: JSON.stringify([talk("a")]) }])
  expect((await read(chatgpt, fileWith("a.zip", "nothing"))).issues).toEqual(["fault no zip"])
  expect((await read(chatgpt, fileWith("a.zip", whole.subarray(0, 60)))).issues).toEqual([
    "fault no directory of a zip",
  ])
  const damaged = Buffer.from(whole).fill(0xff, 55, 70)
  expect((await read(chatgpt, fileWith("a.zip", damaged))).issues.join()).toMatch(/damaged|ends too early|larger/)
})

test("a file that was cut off gives what is whole, and says so", async () => {
  const path = fileWith("conversations.json", `${JSON.stringify([talk("a"), talk("b")]).slice(0, -4)}`)
  const { keys, issues } = await read(chatgpt, path)
  expect({ keys, issues }).toEqual({
    keys: ["conversations/a.json"],
    issues: ["fault it ends in the middle of a session"],
  })
})

test("a picture is read with each session that names it, and with no other", async () => {
  const named = talk("a", { note: "sediment://file_00000000aa01" })
  const path = zipOf([
    { name: "conversations.json", content: JSON.stringify([named, talk("b")]) },
    { name: "user-1/file_00000000aa01-0f0f.png", content: "12345" },
  ])
  const { texts } = await read(chatgpt, path)
  expect(texts).toEqual([JSON.stringify(named), "5 bytes", JSON.stringify(talk("b"))])
})
