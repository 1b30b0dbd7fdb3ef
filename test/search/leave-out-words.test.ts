/** Words that are left out: one of them is enough, as a whole word, whatever its case and its accents. */
import { expect, test } from "bun:test"
import { leaveOutWords } from "../../src/search/rank/place.ts"

const texts = ["the login page", "the LOGÍN again", "logins", "a café, a page", "nothing"]
const ranked = texts.map((text) => ({ hit: { text } })) as unknown as Parameters<typeof leaveOutWords>[0]
const left = (...without: readonly string[]) => leaveOutWords(ranked, without).map(({ hit }) => hit.text)

test("a hit with one of the words is left out, and one with none of them stays", () => {
  expect(left()).toEqual(texts)
  expect(left("login")).toEqual(["logins", "a café, a page", "nothing"])
  expect(left("login", "Cafe")).toEqual(["logins", "nothing"])
  expect(left("unheard")).toEqual(texts)
})
