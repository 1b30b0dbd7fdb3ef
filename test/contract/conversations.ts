/** Random conversations of a client that nobody knows: every shape that the model allows, with the texts that hurt. */
import fc from "fast-check"
import type { Conversation } from "../../src/adapters/adapter.ts"
import type { Entry, Part, Role } from "../../src/model/session.ts"

const PIECES = [
  ...["a", "word ", "日本語", "🌸", "\ud83d", "\udc00", "\u2028", "\u0000", "\r\n", "\n\n", "\t", '"', "\\", "'", "`"],
  ...["<b>", "</summary>", "```\ncode\n```", "$&", "%s", "__proto__", "data:x", "x".repeat(300)],
]

/** Never blank: what says nothing need not come through. */
const text = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.join(""))
  .filter((joined) => joined.trim() !== "")

const image = fc.constantFrom("iVBORw0KGgo=", "iVBORw0KGgoAAAANSUhEUg==")

type Draft = Part extends infer P
  ? P extends Part
    ? Omit<P, "id" | "session_id" | "message_id" | "options">
    : never
  : never
type Said = readonly { readonly role: Role; readonly parts: readonly (Draft & { readonly injected?: string })[] }[]

const conversational = { provenance: "conversational" as const }

const userPart: fc.Arbitrary<Draft & { readonly injected?: string }> = fc.oneof(
  { weight: 6, arbitrary: text.map((said) => ({ ...conversational, type: "text" as const, text: said })) },
  {
    weight: 1,
    arbitrary: text.map((said) => ({
      ...{ provenance: "injected" as const, type: "text" as const, text: said, injected: "hook" },
    })),
  },
  {
    weight: 1,
    arbitrary: image.map((base64) => ({
      ...{ ...conversational, type: "file" as const, media_type: "image/png", data: { base64 } },
    })),
  },
)

const user = fc.array(userPart, { minLength: 1, maxLength: 3 }).map((parts): Said => [{ role: "user", parts }])

/** A reply: what was thought and said, then calls whose results come in any order, some of them never. */
const reply = fc
  .record({
    thought: fc.option(text, { nil: undefined }),
    said: fc.array(text, { maxLength: 2 }),
    calls: fc.array(
      fc.record({
        id: fc.constantFrom("call_1", "call_2", "toolu_01AbC", "fc|item", "ä b"),
        name: fc.constantFrom("bash", "read", "mystery_tool", "mcp__server__tool"),
        params: fc.dictionary(fc.constantFrom("command", "path", "x", "__proto__", ""), fc.jsonValue()),
        result: fc.option(
          fc.oneof(
            text,
            text.map((each) => [{ type: "text", text: each }]),
          ),
          { nil: undefined },
        ),
        isFailure: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
    isReversed: fc.boolean(),
  })
  .map(({ thought, said, calls, isReversed }): Said => {
    // One reply never has two calls of one id; the next reply may have it again.
    const own = calls.filter((call, index) => calls.findIndex(({ id }) => id === call.id) === index)
    const parts: Draft[] = [
      ...(thought === undefined ? [] : [{ ...conversational, type: "reasoning" as const, text: thought }]),
      ...said.map((each) => ({ ...conversational, type: "text" as const, text: each })),
      ...own.map(({ id, name, params }) => ({
        ...{ ...conversational, type: "tool_call" as const, call_id: id, name, params, provider_executed: false },
      })),
    ]
    const results = own.flatMap(({ id, result, isFailure }): Said[number][] => {
      if (result === undefined) return []
      const part = {
        provenance: "injected" as const,
        type: "tool_result" as const,
        call_id: id,
        result,
        is_failure: isFailure,
      }
      return [{ role: "tool", parts: [part] }]
    })
    return [{ role: "assistant", parts }, ...(isReversed ? results.toReversed() : results)]
  })

export const conversation: fc.Arbitrary<Conversation> = fc
  .tuple(user, fc.array(fc.oneof(user, reply), { maxLength: 8 }))
  .map(([first, others]) => conversationOf([first, ...others].flat()))

function conversationOf(said: Said): Conversation {
  const id = "0f8fad5b-d9cb-469f-a165-70867728950e"
  const entries = said.map(({ role, parts }, ordinal): Entry => {
    const messageId = `m${ordinal}`
    const timestamp = new Date(Date.UTC(2026, 0, 2, 3, 4, ordinal)).toISOString()
    const message = { id: messageId, session_id: id, ordinal, timestamp, role, options: {} }
    const own = parts.map(({ injected, ...body }, index) => ({
      ...body,
      ...{ id: `${messageId}:${index}`, session_id: id, message_id: messageId },
      options: injected === undefined ? {} : { pond: { injected } },
    }))
    return { message, parts: own } as unknown as Entry
  })
  const session = {
    ...{
      id,
      source_agent: "unheard-of",
      created_at: "2026-01-02T03:04:00.000Z",
      project: "/projects/alpha",
      options: {},
    },
  }
  return { session, entries, children: [] }
}
