import { expect, test } from "bun:test"
import { readDocuments, sortByLength } from "../../../src/sessions/words/segment/documents.ts"

const LENGTHS = [7, 0, 3, 9, 3, 0, 1, 65_535, 3, 7, 1]
const ALL = [10, 6, 8, 4, 2, 9, 0, 3, 7]

function documents() {
  const lengths = Uint16Array.from(LENGTHS)
  const spoken = LENGTHS.filter((length) => length > 0)
  return readDocuments(new Uint8Array(lengths.buffer), { count: spoken.length, tokens: 1 })
}

test("the shortest come first, and of one length the newest; who is silent is not among them", () => {
  expect([...sortByLength(documents())]).toEqual(ALL)
})

test("some of them are the beginning of all, whole lengths of it, and who asks for more is given more", () => {
  const own = documents()
  expect([...sortByLength(own, 3)]).toEqual(ALL.slice(0, 5))
  expect([...sortByLength(own, 2)]).toEqual(ALL.slice(0, 5))
  expect([...sortByLength(own, 6)]).toEqual(ALL.slice(0, 7))
  expect([...sortByLength(own, 1_000)]).toEqual(ALL)
  expect(sortByLength(own)).toBe(sortByLength(own, 1))
})
