/** Reads Markdown documents by the tables of `src/operations/share/FORMAT.md`: every line has one of its forms. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { shareSession } from "../../../src/operations/share/share.ts"
import { said, session } from "../../sessions/support.ts"
import { memoryPond, type TestPond } from "../support.ts"

const PAGE = readFileSync(join(import.meta.dir, "../../../src/operations/share/FORMAT.md"), "utf8")

const FORMS = [...PAGE.slice(PAGE.indexOf("## Lines")).matchAll(/^\| ([a-z -]+?) +\| `+ ?(\^.+?) ?`+ +\|/gm)].map(
  ([, line = "", form = ""]) => ({ line, form: new RegExp(form.replaceAll("\\|", "|")) }),
)

let place: TestPond
beforeAll(async () => {
  place = memoryPond()
  await place.place.sessions.write([
    {
      session: session("talk", { title: "# Not *a* title" }),
      entries: [
        said("talk", 0, "---\n# not a title\n-   **User** · 2026-01-01 00:00\n*   Client: nobody"),
        said("talk", 1, "```\nleft open", { role: "assistant" }),
        said("talk", 2, "after it", { role: "user" }),
      ],
    },
    { session: session("agent", { parent_session_id: "talk" }), entries: [said("agent", 0, "hello")] },
    { session: session("silent"), entries: [] },
  ])
})
afterAll(() => place[Symbol.dispose]())

async function formsOf(sessionId: string, options: { readonly isRedacted?: boolean } = {}): Promise<string[]> {
  const wanted = { sessionId, isWhole: true, withSubagents: true, isRedacted: false, ...options }
  const { chunks } = shareSession(place.pond, wanted, new AbortController().signal)
  let document = ""
  for await (const chunk of chunks) document += chunk
  const lines = document.split("\n").filter((line) => line !== "" && !line.startsWith("    "))
  return lines.map((line) => FORMS.filter(({ form }) => form.test(line)).map((each) => each.line)[0] ?? `? ${line}`)
}

const HEAD = ["fact", "fact", "fact", "fact", "rule"]

test("the page names every form of a line", () => {
  expect(FORMS).toHaveLength(9)
})

test("a session with its sub-agent has these lines, and nothing that was said looks like one of them", async () => {
  expect(await formsOf("talk")).toEqual([
    "title",
    ...HEAD,
    ...["speaker", "speaker", "speaker"],
    ...["rule", "list of children", "child"],
    ...["rule", "title of a sub-agent", ...HEAD, "speaker"],
  ])
})

test("a session in which nothing was said, and one that is redacted, say so", async () => {
  expect(await formsOf("silent")).toEqual(["title", ...HEAD, "nothing said"])
  expect((await formsOf("silent", { isRedacted: true })).slice(-2)).toEqual(["rule", "redaction"])
})
