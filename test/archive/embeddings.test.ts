/** Vectors go with their messages, and a store that took them from an archive searches by meaning as the first one did. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { writeDemo } from "../../build/corpus/demo.ts"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { embeddingsTable } from "../../src/sessions/tables.ts"
import { said, session } from "../sessions/support.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"
import { exported, type Place, place } from "./support.ts"

let home: TemporaryHome
let here: Place

beforeAll(() => {
  home = temporaryHome()
  here = place()
  writeDemo(home.path)
  const directory = join(home.path, "model")
  writeTinyModel(directory)
  mkdirSync(join(home.path, ".config/pond"), { recursive: true })
  writeFileSync(
    join(home.path, ".config/pond/config.toml"),
    `[embeddings]\nmodel = "tiny"\ndirectory = ${JSON.stringify(directory)}\n`,
  )
})
afterAll(() => {
  home[Symbol.dispose]()
  here[Symbol.dispose]()
})

async function pond(...args: readonly string[]) {
  const { stdout, exitCode } = await runPond([...args, "--json", "-q"], { env: home.env, cwd: home.path })
  return { exitCode, ...JSON.parse(stdout) }
}

test("a store that was imported finds by meaning what the first one found, and makes no vector again", async () => {
  expect(await pond("sync")).toMatchObject({ exitCode: 0, embed: { embedded: 8, left: 0 } })
  expect(await pond("export", "-o", "all.pond")).toMatchObject({ embeddings: 8 })
  expect(await pond("import", "all.pond", "--store", "second")).toMatchObject({ embeddings: { new: 8, present: 0 } })
  const asked = ["search", "charged twice", "--mode", "meaning"]
  const [before, after] = [await pond(...asked), await pond(...asked, "--store", "second")]
  expect(before.matched_total).toBeGreaterThan(0)
  expect(after.sessions).toEqual(before.sessions)
  expect(await pond("sync", "--only", "embed", "--store", "second")).toMatchObject({ embed: { embedded: 0, left: 0 } })
}, 60_000)

test("the indexes of vectors are made when an archive is imported, and when a store is copied", async () => {
  const table = embeddingsTable(4)
  const source = here.open("source")
  await source.write([{ session: session("long"), entries: [said("long", 0, "hello")] }])
  const columns = ["session_id", "id", "role", "source_agent", "project", "timestamp", "lane", "ingested_at"] as const
  const [{ id, ...row } = { id: "" }] = await source.tables.messages.read({ columns })
  const rows = Array.from({ length: 1_200 }, (_, piece) => ({
    ...(row as Omit<Awaited<ReturnType<typeof source.tables.messages.read>>[number], "id">),
    message_id: id,
    model: "a model",
    piece,
    vector: Float32Array.from([piece, 0.5, -1, 2]),
  }))
  await source.store.table(table).insertAbsent(rows as never)
  await exported(source, here.file("vectors.pond"))
  const [imported, copied] = [here.file("imported"), here.file("copied")]
  expect(await pond("import", here.file("vectors.pond"), "--store", imported)).toMatchObject({ exitCode: 0 })
  expect(await pond("copy", "--from", imported, "--to", copied)).toMatchObject({ ok: true })
  for (const name of ["imported", "copied"]) {
    const state = await here.open(name).store.table(table).statistics()
    expect(state?.rows).toBe(1_200)
    const reached = state?.indexes.map(({ name: index, indexedRows }) => [index, indexedRows])
    expect(reached).toContainEqual(["session_id_btree", 1_200])
  }
}, 60_000)
