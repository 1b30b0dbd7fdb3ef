/** Kilo Code, which has opencode's format under names of its own, and a board for its agents. */
import { expect, test } from "bun:test"
import { join } from "node:path"
import { kilo, opencode } from "../../../src/adapters/opencode/adapter.ts"
import { foreignFiles, nativeFiles } from "../../../src/restore/output-files.ts"
import { conversationOf, logsOf } from "../../contract/fixtures.ts"

const ROOT = join(import.meta.dir, "../../../fixtures/kilo")

test("roots, variables and the command that goes on are its own", () => {
  expect(kilo.source.roots({}, "/h")).toEqual(["/h/.local/share/kilo"])
  expect(kilo.source.roots({ XDG_DATA_HOME: "/x", KILO_DB: "/y/z.db" }, "/h")).toEqual(["/x/kilo", "/y/z.db"])
  expect(kilo.source.roots({ OPENCODE_DB: "/y/z.db" }, "/h")).toEqual(["/h/.local/share/kilo"])
  expect(kilo.relocation?.isDiverted?.({ KILO_DB: "/y" })).toBe(true)
  expect(kilo.relocation?.isDiverted?.({ OPENCODE_DB: "/y" })).toBe(false)
  const elsewhere = { root: "/r", relativePath: "kilo.db" }
  expect(kilo.serialize.resume("ses_1", "/p", elsewhere)).toEqual({
    ...{ environment: { KILO_DB: "/r/kilo.db" }, command: ["kilo", "--session", "ses_1"], cwd: "/p" },
  })
})

test("what agents leave on the board of a session comes back with it", async () => {
  const [log] = [...(await logsOf(kilo, join(ROOT, "damaged/root"))).values()]
  if (log === undefined) throw new Error("no session")
  const [file] = nativeFiles(kilo, log)
  const rows = file?.form === "database" ? [...file.rows] : []
  const session = rows.find(({ table }) => table === "session")?.row
  expect(session?.["kilo_board"]).toMatchObject([{ objective: "Hello", next_seq: 3 }])
  expect(session?.["kilo_board_message"]).toMatchObject([
    { seq: 1, body: "The tests are red.", reply_to: null },
    { seq: 2, body: "Which ones?", reply_to: "brd_1" },
  ])
})

test("a session that goes on in both is another one in each", async () => {
  const logs = await logsOf(kilo, join(ROOT, "tools/root"))
  const [id = ""] = logs.keys()
  const way = { cwd: "/projects/beta", reasoning: "keep" } as const
  const [theirs, ours] = [opencode, kilo].map((to) => foreignFiles(to, conversationOf(kilo, logs, id), way))
  expect(theirs?.sessionId).not.toBe(ours?.sessionId)
  const [file] = ours?.files ?? []
  expect(file?.relativePath).toBe("kilo.db")
  const rows = file?.form === "database" ? [...file.rows] : []
  expect(rows.find(({ table }) => table === "session")?.row).toMatchObject({ version: "7.7.9", agent: "code" })
})
