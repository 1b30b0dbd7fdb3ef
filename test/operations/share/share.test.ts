/** A session as a Markdown document: what a reader of it sees, where it is cut in pages, and what it leaves out. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import type { PondError } from "../../../src/model/errors.ts"
import type { Entry, Part, Role } from "../../../src/model/session.ts"
import { shareSession } from "../../../src/operations/share/share.ts"
import { MOMENT, said, session } from "../../sessions/support.ts"
import { memoryPond, type TestPond } from "../support.ts"

type Body = Part extends infer P
  ? P extends Part
    ? Omit<P, "id" | "session_id" | "message_id" | "options">
    : never
  : never

function entry(sessionId: string, ordinal: number, role: Role, bodies: readonly Body[], content = ""): Entry {
  const id = `m${ordinal}`
  const own = { session_id: sessionId, options: {} }
  const parts = bodies.map((body, index) => ({ ...own, id: `${id}:${index}`, message_id: id, ...body }))
  const message = { ...own, id, ordinal, role, timestamp: MOMENT, ...(role === "system" ? { content } : {}) }
  return { message, parts } as unknown as Entry
}

const spoken = { provenance: "conversational" } as const
const call = (call_id: string, params: unknown, name = "Bash"): Body => ({
  ...spoken,
  type: "tool_call",
  call_id,
  name,
  params,
  provider_executed: false,
})
const result = (call_id: string, value: unknown, is_failure = false): Body => ({
  ...spoken,
  type: "tool_result",
  call_id,
  is_failure,
  result: value,
})
const text = (words: string): Body => ({ ...spoken, type: "text", text: words })

/** In no piece that a scanner of repositories takes for one. */
const KEY = `sk-${"ant"}-api03-${"x1".repeat(20)}`

const HOME = "/home/somebody"
/** As it stands in JSON it is another text. */
const SECRET = 'cor"rect\\horse\tbattery'

let place: TestPond
beforeAll(async () => {
  place = memoryPond()
  const many = Array.from({ length: 450 }, (_, ordinal) => said("many", ordinal, `word ${ordinal}`))
  await place.place.sessions.write([
    {
      session: session("talk", { title: "Fix *all* of it", project: "/home/x/we`ird" }),
      entries: [
        entry("talk", 0, "system", [], "You are <b>careful</b>."),
        entry("talk", 1, "user", [
          { provenance: "injected", type: "text", text: "<system-reminder>\nsecret\n</system-reminder>" },
          text("Why is `a<b>` red?"),
          {
            ...spoken,
            type: "file",
            media_type: "image/png",
            file_name: "screen`shot.png",
            data: { base64: "A".repeat(4000) },
          },
        ]),
        entry("talk", 2, "assistant", [{ ...spoken, type: "reasoning", text: "Let me look.\n\n```" }, text("I look.")]),
        entry("talk", 3, "assistant", [call("c1", { command: "cat x", note: "a\n````\nb" }), call("c2", "raw input")]),
        entry("talk", 4, "tool", [result("c2", [{ type: "text", text: "second" }])]),
        entry("talk", 5, "tool", [result("c1", "first\n</details>", true)]),
        entry("talk", 6, "tool", [result("nobody", { image: "B".repeat(4000) })]),
        entry("talk", 7, "assistant", [call("c3", {}), text(`Done: key ${KEY}`)]),
      ],
    },
    {
      session: session("below", { parent_session_id: "talk", source_agent: "test-client/helper", title: "Look" }),
      entries: [said("below", 0, "I was sent")],
    },
    {
      session: session("secret", { project: `${HOME}/shop` }),
      entries: [
        entry("secret", 0, "user", [
          { ...spoken, type: "file", media_type: "text/plain", file_name: `${HOME}/a.txt`, data: { text: SECRET } },
        ]),
        entry("secret", 1, "assistant", [
          call("c1", { flat: SECRET, deep: [{ value: `${SECRET}!` }], [HOME]: "a\nb" }),
        ]),
        entry("secret", 2, "tool", [
          result("c1", { password: "k3y-to-it-all", line: SECRET, said: JSON.stringify({ SECRET }) }),
        ]),
      ],
    },
    { session: session("empty"), entries: [entry("empty", 0, "system", [])] },
    { session: session("many", { title: "Long" }), entries: many },
  ])
})
afterAll(() => place[Symbol.dispose]())

const PLAIN = { isWhole: true, withSubagents: false, isRedacted: false }

async function shared(sessionId: string, options: Partial<typeof PLAIN> = {}): Promise<string> {
  const share = shareSession(place.pond, { sessionId, ...PLAIN, ...options }, new AbortController().signal)
  return (await Array.fromAsync(share.chunks)).join("")
}

test("a session is a document: a title, what it is, and each voice with what it said and did", async () => {
  expect(await shared("talk")).toBe(`# Fix \\*all\\* of it

*   Client: test-client
*   Directory: \`\` /home/x/we\`ird \`\`
*   Begun: 2026-01-31 12:00 UTC
*   Session: \`talk\`

---

-   **System** · 2026-01-31 12:00

    <details>
    <summary>Instructions</summary>

    \`\`\`
    You are <b>careful</b>.
    \`\`\`

    </details>

-   **User** · 2026-01-31 12:00

    <details>
    <summary>Added by the client</summary>

    \`\`\`
    <system-reminder>
    secret
    </system-reminder>
    \`\`\`

    </details>

    Why is \`a<b>\` red?

    Image: \`\` screen\`shot.png \`\` image/png (3.0 KB)

-   **Assistant** · 2026-01-31 12:00

    <details>
    <summary>Reasoning</summary>

    Let me look.

    \`\`\`
    \`\`\`

    </details>

    I look.

    <details>
    <summary>Bash (failed) <code>cat x</code></summary>

    \`\`\`json
    {
      "command": "cat x"
    }
    \`\`\`

    \`note\`:

    \`\`\`\`\`
    a
    \`\`\`\`
    b
    \`\`\`\`\`

    Result:

    \`\`\`
    first
    </details>
    \`\`\`

    </details>

    <details>
    <summary>Bash <code>raw input</code></summary>

    \`\`\`
    raw input
    \`\`\`

    Result:

    \`\`\`
    second
    \`\`\`

    </details>

-   **Tool** · 2026-01-31 12:00

    <details>
    <summary>Result</summary>

    \`\`\`json
    {
      "image": "3.0 KB of base64"
    }
    \`\`\`

    </details>

-   **Assistant** · 2026-01-31 12:00

    <details>
    <summary>Bash</summary>

    No result recorded.

    </details>

    Done: key ${KEY}

---

Sub-agent sessions:

*   \`pond get below --format md\` test-client/helper, Look
`)
})

test("what was said alone is a document without folds, and calls and clients are not in it", async () => {
  const spokenAlone = await shared("talk", { isWhole: false })
  expect(spokenAlone).not.toContain("<details>")
  expect(spokenAlone).not.toContain("secret")
  expect([...spokenAlone.matchAll(/\*\*(?:User|Assistant|Tool|System)\*\*/g)].map(([voice]) => voice)).toEqual([
    "**User**",
    "**Assistant**",
  ])
  expect(spokenAlone).toContain("    I look.\n\n    Done:")
})

test("sub-agents follow where they are asked for", async () => {
  const whole = await shared("talk", { withSubagents: true })
  expect(whole).toContain("Sub-agent sessions (below):\n\n*   `below` test-client/helper, Look\n\n---\n\n## Look\n")
  expect(whole).toEndWith("    I was sent\n")
})

test("redacted, it says what was replaced, and what no form tells", async () => {
  const redacted = await shared("talk", { isRedacted: true })
  expect(redacted).toContain("Done: key [redacted: Anthropic key]\n")
  expect(redacted).toEndWith(
    "\n---\n\n*Replaced: 1 × Anthropic key. Credentials are recognized by their form; unusual ones can slip through.*\n",
  )
})

test("nothing that this machine knows for a secret is left in a file, in parameters or in a result, nor is its home", async () => {
  const { pond } = place
  const host = { ...pond.host, environment: { HOME, SHOP_TOKEN: SECRET } }
  const asked = { sessionId: "secret", ...PLAIN, isRedacted: true }
  const share = shareSession({ ...pond, host }, asked, new AbortController().signal)
  const redacted = (await Array.fromAsync(share.chunks)).join("")
  for (const told of ["horse", "somebody", "k3y-to-it-all"]) expect(redacted).not.toContain(told)
  expect(redacted).toContain('"deep": [')
  expect(share.replaced()).toContainEqual({ kind: "assigned secret", count: 1 })
  const variables = share.replaced()?.find(({ kind }) => kind === "value of an environment variable")
  expect(variables?.count).toBeGreaterThanOrEqual(4)
})

test("a session in which nothing is said is a document that says so", async () => {
  expect(await shared("empty")).toEndWith("\n---\n\n*This session is empty.*\n")
})

test("a session longer than a page comes in several chunks, whole and in order, under one voice", async () => {
  const share = shareSession(place.pond, { sessionId: "many", ...PLAIN }, new AbortController().signal)
  const chunks = await Array.fromAsync(share.chunks)
  expect(chunks.length).toBeGreaterThan(3)
  const words = chunks.join("").match(/word \d+/g)
  expect([...(words ?? [])]).toEqual(Array.from({ length: 450 }, (_, index) => `word ${index}`))
  expect(chunks.join("").match(/\*\*User\*\*/g)).toHaveLength(1)
  expect(share.messages()).toBe(450)
})

test("no message of it is looked up by its place: a long session has a hundred thousand of them", async () => {
  let named = 0
  const { sessions } = place.place
  const counted: typeof sessions = {
    ...sessions,
    entries: (id, ordinals) => {
      named += ordinals?.only?.length ?? 0
      return sessions.entries(id, ordinals)
    },
  }
  const pond = { ...place.pond, sessions: () => Promise.resolve(counted) }
  const share = shareSession(pond, { sessionId: "many", ...PLAIN }, new AbortController().signal)
  expect((await Array.fromAsync(share.chunks)).join("")).toContain("word 449")
  expect(named).toBe(0)
})

test("a session that is nowhere is not found, and an interruption is said", async () => {
  expect(await shared("gone").catch((error: unknown) => (error as PondError).code)).toBe("not_found")
  const share = shareSession(place.pond, { sessionId: "many", ...PLAIN }, AbortSignal.abort())
  expect(await Array.fromAsync(share.chunks).catch((error: unknown) => (error as PondError).code)).toBe("interrupted")
})
