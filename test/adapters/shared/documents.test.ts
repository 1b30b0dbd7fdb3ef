/** A session that is one JSON document, written anew by its client: its messages are records, and one document again. */
import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { joinDocument, splitDocument } from "../../../src/adapters/shared/documents.ts"
import { fromSource } from "../../../src/adapters/source-value.ts"
import { isJsonObject, type JsonValue } from "../../../src/model/json.ts"
import { systemClock } from "../../../src/platform/host/clock.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import { verify } from "../../../src/restore/verify.ts"
import { chats } from "../../contract/recipe/chats/adapter.ts"
import { memoryPond } from "../../operations/support.ts"
import { syncedInto } from "../../restore/support.ts"

const SHAPE = {
  key: "messages",
  idOf: (item: JsonValue) => (isJsonObject(item) && typeof item["id"] === "string" ? item["id"] : undefined),
}

function chat(messages: readonly object[], more: object = {}): object {
  return { v: 1, id: "chat-1", cwd: "/garden", at: "2026-03-01T10:00:00.000Z", ...more, messages, end: [1.5, null] }
}

const ASKED = { id: "m1", at: "2026-03-01T10:00:01.000Z", who: "user", text: "Which tree bears quinces?" }
const ANSWERED = { id: "m2", at: "2026-03-01T10:00:02.000Z", who: "model", text: "The quince tree.", cost: 1e-7 }
const NAMELESS = { at: "2026-03-01T10:00:03.000Z", who: "user", text: "Thanks." }

const DOCUMENTS: readonly (readonly [what: string, messages: readonly object[]])[] = [
  ["with ids", [ASKED, ANSWERED]],
  ["without ids", [NAMELESS, { ...NAMELESS, text: "Again." }]],
  ["with both, and a message that is none", [NAMELESS, ASKED, { tool: "x" }, ANSWERED]],
  ["with an id twice", [ASKED, ANSWERED, { ...ASKED, text: "And plums?" }]],
  ["with none", []],
]

test.each(DOCUMENTS)("a document %s is split and joined by value", (_, messages) => {
  const document = fromSource(chat(messages) as JsonValue)
  const split = splitDocument(document, SHAPE)
  expect(split?.items).toHaveLength(messages.length)
  expect(joinDocument(split?.header ?? {}, split?.items ?? [], SHAPE)).toEqual(document as never)
})

test.each(DOCUMENTS)("a session in a document %s comes back whole", async (_, messages) => {
  using box = memoryPond()
  const root = join(box.place.path, "chats")
  mkdirSync(root)
  writeFileSync(join(root, "chat-1.json"), JSON.stringify(chat(messages)))
  const [report] = await verify(
    { sources: [{ adapter: chats, root }] },
    { clock: systemClock, signal: new AbortController().signal },
  )
  expect(report).toMatchObject({ sessions: 1, mismatches: [], issues: [] })
})

test("a document that grew brings what is new, and its native restore is the newest", async () => {
  using box = memoryPond()
  const root = join(box.place.path, "chats")
  const path = join(root, "chat-1.json")
  mkdirSync(root)
  writeFileSync(path, JSON.stringify(chat([ASKED])))
  expect(await syncedInto(box, chats, root)).toMatchObject({ messages: { new: 2 } })
  const grown = chat([ASKED, ANSWERED, NAMELESS], { title: "Trees" })
  writeFileSync(path, JSON.stringify(grown))
  await syncedInto(box, chats, root)
  const log = await box.place.sessions.log("chat-1")
  expect(log.entries.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [part.text] : [])))).toEqual([
    ASKED.text,
    ANSWERED.text,
    NAMELESS.text,
  ])
  const [file] = nativeFiles(chats, log)
  expect(file?.form === "document" && JSON.parse(file.text)).toEqual(grown)
})
