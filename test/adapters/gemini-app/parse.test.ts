import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { geminiApp } from "../../../src/adapters/gemini-app/adapter.ts"
import { told } from "../told.ts"

test("the word before a prompt is not the person's", async () => {
  const all = await told(geminiApp, "files")
  expect(all[0]).toEqual([
    "user, injected: Prompted",
    "user: What is this? 📄",
    "user: shows application/octet-stream",
    "assistant: <p>A <b>dot</b>.</p>",
  ])
  expect(all.at(-1)?.slice(0, 2)).toEqual(["user, injected: Eingabe:", "user: Was ist das?"])
})

test("activity that is no prompt is left out, and counted", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pond-takeout-"))
  const record = (title: string) => ({ header: "Gemini Apps", title, time: "2026-10-07T19:14:03Z" })
  writeFileSync(
    join(folder, "MyActivity.json"),
    JSON.stringify([record("Used an Assistant feature"), record("Prompted hi")]),
  )
  const found: string[] = []
  for await (const each of geminiApp.source.plan(folder)) found.push("files" in each ? "a session" : each.found)
  rmSync(folder, { recursive: true })
  expect(found).toEqual(["a session", "1 records of something else"])
})
