/** Ids of messages: as the source wrote them, or made from the record, and never the same one twice. */
import { expect, test } from "bun:test"
import type { RawRecord } from "../../../src/adapters/adapter.ts"
import { createMessageIds, createPartIds, hasContentId } from "../../../src/adapters/message-ids.ts"
import { recordsOf } from "../../../src/adapters/shared/resolve.ts"
import { sourceFile } from "../../source-file.ts"

const FILE = sourceFile("s.jsonl")
const LINE = '{"text":"“wide” 🦊 and narrow"}'

function lineOf(text: string, hash?: bigint): RawRecord {
  return { form: "log", file: FILE, line: 1, text, ...(hash === undefined ? {} : { hash }) }
}

function idOf(raw: RawRecord): string {
  return createMessageIds(new Set()).ofContent(raw)
}

test("an id that is made of a record is the same, whether its bytes were hashed or its text", () => {
  const [hashed] = recordsOf(FILE, Buffer.from(`${LINE}\r\n`), 0, true)
  if (hashed?.form !== "log") throw new Error("no line was read")
  expect(hashed.hash).toBeDefined()
  expect(idOf(hashed)).toBe(idOf(lineOf(LINE)))
  expect(idOf(hashed)).toMatch(/^pond-[0-9a-f]{16}$/)
})

test("a hash that begins with a zero is spelled with it", () => {
  expect(idOf(lineOf(LINE, 0x0a_bcn))).toBe("pond-0000000000000abc")
})

test("the same record again gets a number, and so does an id that its source wrote in our form", () => {
  const ids = createMessageIds(new Set())
  const made = ids.ofContent(lineOf(LINE))
  expect(hasContentId(made)).toBe(true)
  expect([ids.ofContent(lineOf(LINE)), ids.free(made), ids.ofContent(lineOf(LINE))]).toEqual([
    `${made}#2`,
    `${made}#3`,
    `${made}#4`,
  ])
})

test("an id in our form that came first keeps the record of that hash from it", () => {
  const ids = createMessageIds(new Set())
  const made = idOf(lineOf(LINE))
  expect(ids.free(made)).toBe(made)
  expect(ids.ofContent(lineOf(LINE))).toBe(`${made}#2`)
})

test("what an earlier parse gave is taken, made or not", () => {
  const made = idOf(lineOf(LINE))
  const ids = createMessageIds(new Set([made, "own"]))
  expect([ids.ofContent(lineOf(LINE)), ids.free("own"), ids.free("other")]).toEqual([`${made}#2`, "own#2", "other"])
})

test("a part whose id is taken in its message gets a number, and so does one that is named like that number", () => {
  const ids = createPartIds()
  const given = ["REDACTED", "own", "REDACTED", "REDACTED#2", "REDACTED", "REDACTED#2"].map(ids)
  expect(given).toEqual(["REDACTED", "own", "REDACTED#2", "REDACTED#2#2", "REDACTED#3", "REDACTED#2#3"])
})
