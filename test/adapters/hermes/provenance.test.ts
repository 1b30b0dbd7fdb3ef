/** In how many pieces a text of the user is read: the client's own words are one, whatever stands in them. */
import { expect, test } from "bun:test"
import { piecesOfText } from "../../../src/adapters/hermes/provenance.ts"

test("a text is as many pieces as there are changes between what a person typed and what was put around it", () => {
  const memory = "<memory-context>likes tea</memory-context>\n"
  expect(piecesOfText("fix it")).toBe(1)
  expect(piecesOfText(`${memory}fix it`)).toBe(2)
  expect(piecesOfText(`fix it\n\n[System note: be quick]`)).toBe(2)
  expect(piecesOfText(`[SYSTEM: ${memory}fix it`)).toBe(1)
  expect(piecesOfText(`[System note: first]\n\n[System note: second]`)).toBe(1)
})
