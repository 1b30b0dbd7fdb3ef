/** A session as HTML page by page: together the pages are the session, and nothing of a session is markup in any of them. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Entry } from "../../src/model/session.ts"
import { render } from "../../src/operations/wire/render.ts"
import { said, session } from "../sessions/support.ts"
import { HTML_ATTACKS } from "../support/html-attacks.ts"
import { memoryPond, type TestPond } from "./support.ts"

interface Rendered {
  readonly html: string
  readonly map: readonly { readonly anchor: string; readonly kind: string }[]
  readonly messages_remaining: number
  readonly next_after_id?: string
}

let box: TestPond
const ID = "aaaaaaaa-1"
const MESSAGES = 30
const SECRET = `ghp_${"a1B2".repeat(9)}`

beforeAll(async () => {
  box = memoryPond()
  await box.place.sessions.write([
    { session: session(ID, { source_agent: "claude-code" }), entries: entriesOf() },
    agent("unspawned", {}, "2026-01-01T00:00:10.500Z"),
    agent("spawned", { pond: { spawned_by: "c10" } }, "2026-01-01T00:00:11.500Z"),
    { session: session("secret"), entries: [said("secret", 0, `the token is ${SECRET}`)] },
    {
      session: session("bbbbbbbb-2", { source_agent: "claude-code" }),
      entries: HTML_ATTACKS.map((attack, at) => said("bbbbbbbb-2", at, attack)),
    },
  ])
})
afterAll(() => box[Symbol.dispose]())

/** Every tenth message calls a tool, whose result is in the message behind it. */
function entriesOf(): Entry[] {
  return Array.from({ length: MESSAGES }, (_, at) => {
    const { message, parts } = said(ID, at, `message ${at}`, { role: at % 2 === 0 ? "assistant" : "user" })
    const common = { session_id: ID, message_id: message.id, provenance: "conversational", options: {} }
    const call = { ...common, id: "c", type: "tool_call", call_id: `c${at}`, name: "Bash", params: { command: "ls" } }
    const result = {
      ...common,
      id: "r",
      type: "tool_result",
      call_id: `c${at - 1}`,
      is_failure: false,
      result: `out ${at}`,
    }
    const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString()
    const more = [...(at % 10 === 0 ? [{ ...call, provider_executed: false }] : []), ...(at % 10 === 1 ? [result] : [])]
    return { message: { ...message, timestamp }, parts: [...parts, ...more] } as unknown as Entry
  })
}

function agent(id: string, options: object, at: string) {
  const about = {
    parent_session_id: ID,
    source_agent: "claude-code/general",
    options: options as never,
    created_at: at,
  }
  return { session: session(id, about), entries: [said(id, 0, `said by ${id}`), said(id, 1, `again by ${id}`)] }
}

async function pages(input: object): Promise<Rendered[]> {
  const read: Rendered[] = []
  let after: string | undefined
  do {
    const from = after === undefined ? {} : { after_id: after }
    const page = (await box.run(render, { session_id: ID, ...input, ...from })) as Rendered
    read.push(page)
    after = page.messages_remaining === 0 ? undefined : page.next_after_id
  } while (after !== undefined)
  return read
}

const articles = (html: string) => [...html.matchAll(/<article [^>]*id="([^"]+)"/g)].map(([, id = ""]) => id)

test.each([1, 3, 11, 100])("pages of %i messages are together the session, each message once", async (limit) => {
  const read = await pages({ limit, include_subagents: true })
  const html = read.map((page) => page.html).join("")
  const anchors = articles(html)
  expect(new Set(anchors).size).toBe(anchors.length)
  for (let at = 0; at < MESSAGES; at++) expect(html.split(`message ${at}<`).length).toBe(2)
  // Both agents have two messages; the messages that hold a result alone show it beside its call.
  for (const id of ["unspawned", "spawned"]) expect(html.split(`said by ${id}`).length).toBe(2)
  expect(read.flatMap(({ map }) => map.map(({ anchor }) => anchor)).every((anchor) => anchors.includes(anchor))).toBe(
    true,
  )
})

test("a call and its result are on one page, wherever a page ends", async () => {
  for (const limit of [1, 2, 11]) {
    const html = (await pages({ limit })).map((page) => page.html).join("")
    expect(html).not.toContain("no result")
    expect(html.match(/class="sides"/g)?.length).toBe(3)
  }
})

test("a page continues behind the last message, and has nothing where nothing was said since", async () => {
  const [whole] = await pages({ limit: 100 })
  const next = (await box.run(render, { session_id: ID, after_id: whole?.next_after_id })) as Rendered
  expect(next).toEqual({ session_id: ID, html: "", map: [], messages_remaining: 0 } as never)
})

test("the conversation alone has no tool calls, and credentials are replaced where that is asked", async () => {
  const html = (await pages({ conversation_only: true })).map((page) => page.html).join("")
  expect(html).not.toContain("Bash")
  expect(html).toContain("message 10")
  const shown = await pages({ session_id: "secret" })
  const redacted = await pages({ session_id: "secret", redact: true })
  expect(shown[0]?.html).toContain(SECRET)
  expect(redacted[0]?.html).not.toContain(SECRET)
})

test("nothing of a session is markup", async () => {
  const html = (await pages({ session_id: "bbbbbbbb-2" })).map((page) => page.html).join("")
  expect(articles(html).length).toBe(HTML_ATTACKS.length)
  const allowed =
    "header h3 h4 h5 h6 article a time p ul ol li pre code span strong em b del blockquote table thead tbody tr th td hr div details summary small"
  const tags = new Set([...html.matchAll(/<\/?([a-z][\w-]*)/gi)].map(([, tag = ""]) => tag))
  expect([...tags].filter((tag) => !allowed.split(" ").includes(tag))).toEqual([])
  expect(html).not.toMatch(/<[^>]*\son\w+\s*=/i)
})

test("a session that is not stored is not found", async () => {
  expect(box.run(render, { session_id: "nobody" })).rejects.toMatchObject({ code: "not_found" })
})
