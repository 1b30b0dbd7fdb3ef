import { expect, test } from "bun:test"
import { said, session } from "../sessions/support.ts"
import { found } from "./search-support.ts"
import { memoryPond } from "./support.ts"

/** What is asked, a text that has it as asked, one that has it in another form, and one that only looks like it. */
const CASES: readonly (readonly [query: string, asked: string, other: string, alike: string])[] = [
  ["资料库", "资料库的备份", "資料庫遷移完成", "图书馆的资本和仓库"],
  ["資料庫", "資料庫遷移完成", "资料库的备份", "圖書館的資本和倉庫"],
  ["检索", "检索很慢", "検索が遅い", "检查和索引"],
  ["zęby", "zęby już nie bolą", "ząb bolał wczoraj", "zebra i zebranie"],
  ["świąt", "plan na czas świąt", "wesołe święta minęły", "zwierzęta i kwiaty"],
  ["Züge", "die Züge fahren wieder", "der Zug hatte Verspätung", "eine Zulage zum Gehalt"],
  ["bugs", "two bugs remain", "one bug remains", "a bundle and a budget"],
]

test.each(CASES)("%s is found in its other form too", async (query, asked, other, alike) => {
  using box = memoryPond()
  await box.place.sessions.write(
    Object.entries({ asked, other, alike }).map(([id, text]) => ({
      session: session(id),
      entries: [said(id, 0, text, { id: `m-${id}` })],
    })),
  )
  await box.place.sessions.maintain("all")
  const { sessions = [] } = await found(box, { query })
  expect(sessions.map(({ session_id }) => session_id).slice(0, 2)).toEqual(["asked", "other"])
})

test.each<[query: string, text: string]>([
  ["Verschlüsselung", "die Festplattenverschlüsselung ist eingeschaltet"],
  ["Haftpflichtversicherung", "die Versicherung zahlt den Schaden nicht"],
  ["ansiktsigenkänning", "igenkänning av bilder"],
])("%s is found where a compound or its member was written", async (query, text) => {
  using box = memoryPond()
  await box.place.sessions.write([
    { session: session("held"), entries: [said("held", 0, text, { id: "m-held" })] },
    {
      session: session("other"),
      entries: [said("other", 0, "the weather is fine, and nothing else was said", { id: "m-other" })],
    },
  ])
  await box.place.sessions.maintain("all")
  expect((await found(box, { query })).sessions?.[0]?.session_id).toBe("held")
})
