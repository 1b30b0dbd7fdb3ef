/** A session as one HTML page: what it shows, and that nothing of a session is ever markup. `bun run judge:html` asks a browser. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Entry } from "../../../src/model/session.ts"
import { escapeHtml, isSafeLink } from "../../../src/operations/share/html/escape.ts"
import { markdownHtml } from "../../../src/operations/share/html/markdown-html.ts"
import { PAGE_SCRIPT, PAGE_STYLE } from "../../../src/operations/share/html/page-style.ts"
import { durationText } from "../../../src/operations/share/html/session-map.ts"
import { shareSession } from "../../../src/operations/share/share.ts"
import { said, session } from "../../sessions/support.ts"
import { HTML_ATTACKS } from "../../support/html-attacks.ts"
import { memoryPond, type TestPond } from "../support.ts"

let box: TestPond
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

beforeAll(async () => {
  box = memoryPond()
  const options = { pond: { spawned_by: "c3" } }
  await box.place.sessions.write([
    { session: session("aaaaaaaa-1", { title: "Mend the <cart>", source_agent: "claude-code" }), entries: ENTRIES },
    {
      session: session("aaaaaaaa-1:agent-1", {
        parent_session_id: "aaaaaaaa-1",
        source_agent: "claude-code/general",
        options,
      }),
      entries: [said("aaaaaaaa-1:agent-1", 0, "count the files", { role: "user" })],
    },
    {
      session: session("bbbbbbbb-2", { title: "An attack", source_agent: "claude-code" }),
      entries: HTML_ATTACKS.flatMap((attack, at) => [
        said("bbbbbbbb-2", 2 * at, attack),
        call(
          "bbbbbbbb-2",
          2 * at + 1,
          `x${at}`,
          attack,
          { file_path: attack, command: attack, [attack]: attack },
          attack,
        ),
      ]),
    },
  ])
})
afterAll(() => box[Symbol.dispose]())

function call(id: string, ordinal: number, callId: string, name: string, params: object, result: unknown): Entry {
  const { message, parts } = said(id, ordinal, "", { role: "assistant" })
  const common = { session_id: id, message_id: message.id, provenance: "conversational", options: {} }
  return {
    message,
    parts: [
      ...parts,
      { ...common, id: "c", type: "tool_call", call_id: callId, name, params, provider_executed: false },
      { ...common, id: "r", type: "tool_result", call_id: callId, is_failure: name === "Bash", result },
    ],
  } as unknown as Entry
}

const ID = "aaaaaaaa-1"
const ENTRIES: readonly Entry[] = [
  said(ID, 0, "Please **mend** it: [docs](https://example.com/a?b=1&c=2) and ![x](http://example.com/p.png)"),
  call(ID, 1, "c1", "Bash", { command: "go test ./..." }, "FAIL\n"),
  call(
    ID,
    2,
    "c2",
    "Edit",
    { file_path: "cart.ts", old_string: "const a = 1\nkept", new_string: "const a = 2\nkept" },
    "ok",
  ),
  call(ID, 3, "c3", "Task", { description: "Count", prompt: "count the files" }, [{ type: "text", text: "seven" }]),
  call(ID, 4, "c4", "Read", { file_path: "p.png" }, [
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
  ]),
  call(
    ID,
    5,
    "c5",
    "TodoWrite",
    {
      todos: [
        { content: "one", status: "completed", activeForm: "x" },
        { content: "two", status: "in_progress", activeForm: "y" },
      ],
    },
    "ok",
  ),
  said(ID, 6, "```ts\nconst done = true\n```", { role: "assistant" }),
]

async function page(sessionId: string, more: object = {}): Promise<string> {
  const options = { sessionId, isWhole: true, withSubagents: true, isRedacted: false, format: "html" as const, ...more }
  const { chunks } = shareSession(box.pond, options, new AbortController().signal)
  return (await Array.fromAsync(chunks)).join("")
}

test("a page shows what was said and done, each call with its result", async () => {
  const html = await page(ID)
  expect(html).toStartWith("<!doctype html>")
  expect(html).toContain("<h1>Mend the &lt;cart&gt;</h1>")
  expect(html).toContain('<a href="https://example.com/a?b=1&amp;c=2" rel="noopener noreferrer nofollow">docs</a>')
  expect(html).toContain("[x: http://example.com/p.png]")
  expect(html).toContain('<details class="tool failed"><summary><b>Bash</b> <code>go test ./...</code> <em>failed</em>')
  expect(html).toContain('<span class="del"><span class="hljs-keyword">const</span>')
  expect(html).toContain("cart.ts +1 −1")
  expect(html).toContain(`src="data:image/png;base64,${PIXEL}"`)
  expect(html).toContain('<li>☑ one</li><li class="now">◐ two</li>')
  expect(html).toContain('<article class="user" id="m0" data-message="m0">')
  expect(html).toContain('<nav id="map"')
})

test("a result whose call is nowhere is shown all the same, and an answer to a request for approval", async () => {
  const { message, parts } = said("alone", 0, "here", { role: "assistant" })
  const common = { session_id: "alone", message_id: message.id, provenance: "conversational", options: {} }
  const result = { ...common, id: "r", type: "tool_result", call_id: "gone", is_failure: false, result: "forty-two" }
  const approval = {
    ...common,
    id: "a",
    type: "tool_approval_response",
    approval_id: "x",
    approved: false,
    reason: "no",
  }
  const answers = said("alone", 1, "", { role: "user" })
  await box.place.sessions.write([
    {
      session: session("alone"),
      entries: [
        { message, parts: [...parts, result] },
        { message: { ...answers.message, role: "tool" }, parts: [{ ...approval, message_id: answers.message.id }] },
      ] as unknown as Entry[],
    },
  ])
  const html = await page("alone")
  expect(html).toContain("forty-two")
  expect(html).toContain("<em>Refused: no</em>")
})

test("a sub-agent stands folded behind the call that started it", async () => {
  const html = await page(ID)
  const [call3, agent, after] = ["<b>Task</b>", '<details class="branch">', "<b>Read</b>"].map((text) =>
    html.indexOf(text),
  )
  expect([call3, agent, after].every((at) => at !== undefined && at > 0)).toBe(true)
  expect([call3, agent, after]).toEqual([call3, agent, after].toSorted((left = 0, right = 0) => left - right))
  expect(await page(ID, { withSubagents: false })).not.toContain('class="branch"')
})

test("what was not said is left out where only that is asked for", async () => {
  const html = await page(ID, { isWhole: false })
  expect(html).toContain("<strong>mend</strong>")
  expect(html).not.toContain('<details class="tool')
})

test("the policy of the page allows its own style and script, by their hashes, and nothing else", async () => {
  const html = await page(ID)
  const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? []
  const hash = (text: string) => `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`
  const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? []
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => text)
  expect(style).toBe(PAGE_STYLE)
  expect(scripts).toEqual([PAGE_SCRIPT])
  expect(policy.split("; ")).toEqual([
    "default-src 'none'",
    `style-src ${hash(PAGE_STYLE)}`,
    `script-src ${hash(PAGE_SCRIPT)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ])
})

/** The elements that the page itself makes. Anything else came from a session. */
const TAGS = new Set(
  "!doctype html head meta title style body header h1 h3 h4 h5 h6 dl dt dd main article a time p ul ol li pre code span details summary b em small strong del blockquote table thead tbody tr th td hr img div nav svg rect footer script".split(
    " ",
  ),
)

test("nothing of a session is markup", async () => {
  const html = await page("bbbbbbbb-2")
  const body = html.slice(html.indexOf("<body>"), html.lastIndexOf("<script>"))
  const elements = [...body.matchAll(/<\/?([!\w-]+)([^>]*)>/g)]
  expect(elements.length).toBeGreaterThan(HTML_ATTACKS.length)
  expect(elements.map(([, tag = ""]) => tag.toLowerCase()).filter((tag) => !TAGS.has(tag))).toEqual([])
  expect(
    elements.filter(([, , rest = ""]) => /\son\w+\s*=|style\s*=|srcdoc/i.test(rest.replace(/"[^"]*"/g, '""'))),
  ).toEqual([])
  const links = [...body.matchAll(/href="([^"]*)"/g)].map(([, href = ""]) => href)
  expect(links.filter((href) => !/^(?:#m[\d-]+$|https?:|mailto:)/.test(href))).toEqual([])
})

test("links lead to the web or nowhere, and what cannot be seen is shown", () => {
  for (const href of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "//x",
    "http://a b",
  ])
    expect(isSafeLink(href)).toBe(false)
  expect(markdownHtml("[x](javascript:alert(1))")).toBe("<p>x</p>\n")
  for (const sign of ["\u202E", "\u0000", "<"]) expect(escapeHtml(`a${sign}b`)).not.toContain(sign)
})

test("--redact takes credentials out of every place", async () => {
  const secret = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`
  await box.place.sessions.write([
    {
      session: session("cccccccc-3", { title: `with ${secret}`, source_agent: "claude-code" }),
      entries: [
        said("cccccccc-3", 0, secret),
        call("cccccccc-3", 1, "c", "Odd", { token: secret, [secret]: 1 }, secret),
      ],
    },
  ])
  expect(await page("cccccccc-3")).toContain(secret)
  const redacted = await page("cccccccc-3", { isRedacted: true })
  expect(redacted).not.toContain(secret)
  expect(redacted).toContain("GitHub")
})

test("how long something took is said in the largest units that fit", () => {
  expect([900, 12_000, 65_000, 7_500_000, 90_000_000].map(durationText)).toEqual([
    "0.9 s",
    "12 s",
    "1 min 5 s",
    "2 h 5 min",
    "1 d 1 h",
  ])
})
