/** No changed byte hangs or crashes the reader: `bun run attack archive` tries thousands. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { judgeArchive, mutateArchive, reshapeArchive, SHAPES } from "./mutations.ts"
import { exported, fill, type Place, place } from "./support.ts"

let box: Place
beforeAll(async () => {
  box = place()
  const sessions = box.open("store")
  await fill(sessions, box.file("state"))
  await exported(sessions, box.file("all.pond"))
})
afterAll(() => box[Symbol.dispose]())

test("the file itself is accepted", async () => {
  expect(await judgeArchive(box.file("all.pond"))).toMatchObject({ verdict: "accepted" })
})

/** What the reader of Arrow does with two of them. */
const REFUSALS: Readonly<Record<number, string>> = {
  4: "cannot be read in a reasonable time",
  54: "needs too much memory to be read",
}

test.each([1, 2, 3, 4, 5, 6, 7, 8, 54])("mutation %i is judged within 10 s of processor time", async (seed) => {
  const judged = await judgeArchive(await mutateArchive(box.file("all.pond"), box.file(`${seed}.pond`), seed))
  expect(judged.verdict).not.toBe("failed")
  expect(judged.cpuMs).toBeLessThan(10_000)
  expect(judged.said).toContain(REFUSALS[seed] ?? "")
})

test.each(Object.keys(SHAPES))("an entry that is %s is refused, and says so", async (shape) => {
  for (const table of ["sessions", "parts"]) {
    const judged = await judgeArchive(await reshapeArchive(box.file("all.pond"), box.file("shape.pond"), table, shape))
    expect({ shape, table, verdict: judged.verdict, said: judged.said }).toMatchObject({
      verdict: "refused",
      said: expect.stringContaining(`${table}/000000`),
    })
  }
})
