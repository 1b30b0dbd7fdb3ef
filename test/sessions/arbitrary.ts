/** Random sessions with everything that has ever been hard: half emoji, NUL, numbers beyond a double, hostile keys. */
import fc from "fast-check"
import { type JsonValue, parseJson } from "../../src/model/json.ts"
import type { Entry, Part, Role, Session, SessionLog } from "../../src/model/session.ts"
import { ROLE_PARTS } from "../../src/model/session.ts"
import { textOfMicros } from "../../src/model/timestamp.ts"

const HARD_STRINGS = [
  "",
  "\u0000",
  "a\u0000b",
  "\ud83d",
  "\ude00x",
  "\ud83d\ude00",
  "\u{10FFFE}",
  "\u{10FFFF}",
  "\ufeffbom",
  "\u2028\u2029",
  "__proto__",
  "constructor",
  "pond://blob/abc",
  "pond://text/abc",
  "' OR 1=1 --",
  "\\",
  "\r\n",
  "プロジェクト β",
  "مرحبا",
]

const units = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((codes) => String.fromCharCode(...codes))
export const anyText = fc.oneof(fc.constantFrom(...HARD_STRINGS), units, fc.string({ unit: "binary", maxLength: 20 }))
const someText = anyText.filter((text) => text.trim() !== "")

const HARD_NUMBERS = [
  "12345678901234567890",
  "0.1000000000000000055511151231257827",
  "1e400",
  "-0",
  "5e-324",
  "123456789012345.678",
]
const anyNumber = fc.oneof(
  fc.constantFrom(...HARD_NUMBERS).map((text) => {
    const parsed = parseJson(text)
    return parsed.ok ? parsed.value : 0
  }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
)

const anyKey = fc.oneof(fc.constantFrom("__proto__", "toString", "a", "b", ""), anyText)

export const anyJson: fc.Arbitrary<JsonValue> = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>(null, true, false),
    anyNumber,
    anyText,
    fc.array(tie("json"), { maxLength: 4 }),
    fc.array(fc.tuple(anyKey, tie("json")), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs) as JsonValue),
  ),
})).json

const anyOptions = fc.dictionary(anyKey, anyJson, { maxKeys: 3, noNullPrototype: true })
const anyMoment = fc
  .bigInt({ min: -62_167_219_200_000_000n, max: 253_402_300_799_999_999n })
  .map((micros) => textOfMicros(micros))

const base64 = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("base64"))
const fileData = fc.oneof(
  base64.map((value) => ({ base64: value })),
  fc.constantFrom({ base64: "not=base64!" }, { base64: "YQ" }),
  anyText.map((url) => ({ url })),
  anyText.map((text) => ({ text })),
)

const bodies = {
  text: fc.record({ type: fc.constant("text" as const), text: anyText }),
  reasoning: fc.record({ type: fc.constant("reasoning" as const), text: anyText }),
  file: fc.record(
    { type: fc.constant("file" as const), media_type: anyText, file_name: anyText, data: fileData },
    { requiredKeys: ["type", "media_type", "data"] },
  ),
  tool_call: fc.record({
    type: fc.constant("tool_call" as const),
    call_id: anyText,
    name: anyText,
    params: anyJson,
    provider_executed: fc.boolean(),
  }),
  tool_result: fc.record(
    {
      type: fc.constant("tool_result" as const),
      call_id: anyText,
      name: anyText,
      is_failure: fc.boolean(),
      result: anyJson,
    },
    { requiredKeys: ["type", "call_id", "is_failure", "result"] },
  ),
  tool_approval_request: fc.record({
    type: fc.constant("tool_approval_request" as const),
    approval_id: anyText,
    tool_call_id: anyText,
  }),
  tool_approval_response: fc.record(
    {
      type: fc.constant("tool_approval_response" as const),
      approval_id: anyText,
      approved: fc.boolean(),
      reason: anyText,
    },
    { requiredKeys: ["type", "approval_id", "approved"] },
  ),
  opaque: fc.record({ type: fc.constant("opaque" as const), kind: anyText }),
} satisfies Record<Part["type"], fc.Arbitrary<object>>

function anyEntry(sessionId: string, ordinal: number): fc.Arbitrary<Entry> {
  return fc.constantFrom<Role>("system", "user", "assistant", "tool").chain((role) => {
    const allowed = ROLE_PARTS[role].map((type) => bodies[type])
    const parts = allowed.length === 0 ? fc.constant([]) : fc.array(fc.oneof(...allowed), { maxLength: 4 })
    return fc
      .tuple(
        someText,
        anyMoment,
        anyOptions,
        anyText,
        parts,
        fc.array(anyOptions, { minLength: 4, maxLength: 4 }),
        fc.boolean(),
      )
      .map(([name, timestamp, options, content, drafts, partOptions, isInjected]) => {
        const id = `${ordinal}${name}`
        const message = {
          id,
          session_id: sessionId,
          ordinal,
          timestamp,
          options,
          role,
          ...(role === "system" ? { content } : {}),
        }
        const whole = drafts.map((body, index) => ({
          ...body,
          id: `${index}`,
          session_id: sessionId,
          message_id: id,
          provenance: isInjected ? ("injected" as const) : ("conversational" as const),
          options: partOptions[index] ?? {},
        }))
        return { message, parts: whole } as unknown as Entry
      })
  })
}

const anySession: fc.Arbitrary<Session> = fc
  .tuple(
    someText,
    someText,
    someText,
    anyMoment,
    anyOptions,
    fc.option(anyText, { nil: undefined }),
    fc.option(someText, { nil: undefined }),
  )
  .map(([id, source_agent, project, created_at, options, title, parent]) => ({
    id,
    source_agent,
    project,
    created_at,
    options,
    ...(title === undefined ? {} : { title }),
    ...(parent === undefined ? {} : { parent_session_id: parent }),
  }))

export const anyLog: fc.Arbitrary<SessionLog> = anySession.chain((session) =>
  fc
    .integer({ min: 0, max: 6 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, ordinal) => anyEntry(session.id, ordinal))))
    .map((entries) => ({ session, entries })),
)
