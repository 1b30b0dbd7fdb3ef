/** A purge of erased sessions: no byte of them is left, whatever stops it, and everything else stays. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { type Embedder, openEmbedder } from "../../src/embeddings/embedder.ts"
import { search } from "../../src/operations/wire/search.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { embedMissing } from "../../src/search/embed-missing.ts"
import { said, session } from "../sessions/support.ts"
import { bytesOf, filled, found, NONE_FOUND, run, SECRET, signal } from "./erase-support.ts"

const modelPlace = mkdtempSync(join(tmpdir(), "pond-erase-model-"))
let embedder: Embedder

beforeAll(async () => {
  writeTinyModel(modelPlace)
  embedder = await openEmbedder("tiny", modelPlace)
})
afterAll(async () => {
  await embedder.close()
  rmSync(modelPlace, { recursive: true, force: true })
})

describe("a purge", () => {
  const filesBelow = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))

  test("leaves no byte in any file, keeps the attachment that another session uses, and everything else whole", async () => {
    using box = await filled()
    const { sessions, path } = box.place
    await embedMissing(sessions, embedder, { signal, clock: systemClock, onProgress: () => undefined } as never)
    await sessions.maintain("all")
    await sessions.write([
      { session: session("after"), entries: [said("after", 0, "stored after the index", { id: "x0" })] },
    ])
    const logs = async () => await Promise.all(["elder", "open", "after"].map((id) => sessions.log(id)))
    const before = await logs()
    const holding = (bytes: string | Buffer) => filesBelow(path).filter((file) => readFileSync(file).includes(bytes))
    const own = bytesOf("own").subarray(1000, 1064)
    const shared = bytesOf("shared").subarray(1000, 1064)
    expect(holding(SECRET).length).toBeGreaterThan(1)
    expect(holding(own).length).toBe(1)
    const vectors = (await sessions.erasure.size(["secret", "fork", "secret-agent"])).vectors
    expect(vectors).toBeGreaterThan(3)
    const old = new Set(
      filesBelow(path).filter((file) =>
        /\/(?:messages|parts|sessions|embeddings_\d+|word_\w+)\.lance\/(?:data|_indices)\//.test(file),
      ),
    )

    const done = await run(box, { session: ["secret"], yes: true, purge: true })
    expect(done).toMatchObject({
      action: "erase",
      purged: { sessions: 3, removed: { sessions: 3, messages: 8, blobs: 1 } },
    })
    expect(done.sessions.map(({ state }) => state)).toEqual(["purged", "purged", "purged"])
    expect(holding(SECRET)).toEqual([])
    expect(holding(own)).toEqual([])
    expect(holding(shared).length).toBe(1)
    // Whatever is compressed: no file that could have held a row of them is left.
    expect(filesBelow(path).filter((file) => old.has(file))).toEqual([])
    expect(await logs()).toEqual(before)
    expect(await found(box)).toMatchObject({ ...NONE_FOUND, exported: 3, copied: 3, counts: 3 })
    expect(JSON.stringify(await box.run(search as never, { query: "question" } as never))).toContain("an open question")
    const checked = await sessions.store.check({ isDeep: true })
    expect(checked.flatMap(({ damaged }) => damaged)).toEqual([])
    expect(await sessions.store.repair()).toEqual([])
    expect(await run(box, { purge: true, yes: true })).toMatchObject({ action: "plan", sessions: [], waiting: 0 })
  })

  test("that was cut off is known, hides all the while, and is finished by the next one", async () => {
    using box = await filled()
    const { sessions, path } = box.place
    await run(box, { session: ["secret"], yes: true })
    const stop = (name: string) => {
      if (name === "messages") throw new Error("killed")
    }
    await expect(sessions.erasure.purge({ onTable: stop })).rejects.toThrow("killed")
    expect((await run(box, { list: true })).sessions.map(({ state }) => state)).toEqual([
      "purging",
      "purging",
      "purging",
    ])
    expect(await found(box)).toEqual(NONE_FOUND)
    expect(await run(box, { purge: true, yes: true })).toMatchObject({ purged: { sessions: 3 } })
    expect(filesBelow(path).filter((file) => readFileSync(file).includes(SECRET))).toEqual([])
  })

  test("and new messages are found by words, also where the last of them was purged", async () => {
    using box = await filled()
    const { sessions } = box.place
    await sessions.maintain("all")
    await run(box, { session: ["fork"], yes: true, purge: true })
    await sessions.maintain("all")
    const hits = async (query: string) => JSON.stringify(await box.run(search as never, { query } as never))
    expect(await hits("question")).toContain("an open question")
    await sessions.write([{ session: session("new"), entries: [said("new", 0, "a giraffe question", { id: "n0" })] }])
    expect(await hits("giraffe")).toContain("a giraffe question")
    await sessions.maintain("all")
    expect(await hits("giraffe")).toContain("a giraffe question")
    expect(await hits("password")).toContain(SECRET)
  })
})
