/** Rows from elsewhere, judged in their columns: a row is taken for what the one before it was only where it is the same. */
import { expect, test } from "bun:test"
import { createRowChecker } from "../../src/sessions/rows/check-rows.ts"
import { MESSAGES, PARTS, SESSIONS } from "../../src/sessions/tables.ts"
import { batchOfRows } from "../../src/substrate/columns/row-batch.ts"
import type { AnyRow, TableDefinition } from "../../src/substrate/table-definition.ts"

const MOMENT = 1_700_000_000_000_000n

function rowOf(definition: TableDefinition, values: AnyRow): AnyRow {
  const nothing = Object.entries(definition.columns).map(([name, { kind, nullable }]) => {
    if (nullable) return [name, null]
    return [name, { int32: 0, int64: 0n, timestamp_us: MOMENT, bool: false }[kind as "int32"] ?? ""]
  })
  return { ...Object.fromEntries(nothing), ...values }
}

const owner = { source_agent: "codex", project: "/one" }
const sessions = SESSIONS as unknown as TableDefinition
const messages = MESSAGES as unknown as TableDefinition

/** Of two sessions of two projects, the first with four messages that differ in their ids alone. */
function faultOf(third: AnyRow): string | undefined {
  const checker = createRowChecker()
  const listed = [
    { ...owner, id: "s1" },
    { ...owner, id: "s2", project: "/two" },
  ]
  const known = batchOfRows(
    sessions,
    listed.map((values) => rowOf(sessions, { ...values, created_at: MOMENT, options: "{}" })),
  )
  expect(checker.sessions(known)).toBeUndefined()
  const same = { ...owner, session_id: "s1", role: "user", lane: "main", options: '{"a":1}' }
  const rows = [0, 1, 2, 3].map((at) =>
    rowOf(messages, { ...same, id: `m${at}`, ordinal: at, timestamp: MOMENT, ...(at === 2 ? third : {}) }),
  )
  return checker.messages(batchOfRows(messages, rows))
}

test.each([
  ["the same as the row before", {}, undefined],
  ["another value that can be read", { options: '{"b":2}' }, undefined],
  ["another session with a project of its own", { session_id: "s2", project: "/two" }, undefined],
  ["a value of the same length that cannot be read", { options: '{"a":1]' }, /m2 of session s1 cannot be read/],
  ["the beginning of that value", { options: '{"a":1' }, /m2 of session s1 cannot be read/],
  ["no value where the one before has one", { options: "" }, /m2 of session s1 cannot be read/],
  ["another session under the same project", { session_id: "s2" }, /from another client or project/],
  ["another project of the same length", { project: "/six" }, /from another client or project/],
  ["another client of the same length", { source_agent: "codey" }, /from another client or project/],
  ["a role that there is not", { role: "use" }, /m2 of session s1 cannot be read/],
  ["a role of the length of one", { role: "usex" }, /m2 of session s1 cannot be read/],
  ["another lane", { lane: "subagent" }, undefined],
  ["no lane", { lane: "" }, /m2 of session s1 cannot be read/],
  ["the last moment that can be written", { timestamp: 253_402_300_799_999_999n }, undefined],
  ["a moment later than that", { timestamp: 253_402_300_800_000_000n }, /m2 of session s1 cannot be read/],
  ["a moment earlier than any", { timestamp: -62_167_219_200_000_001n }, /m2 of session s1 cannot be read/],
  ["a value with spaces", { options: '{ "a": 1 }' }, undefined],
  ["a value that is no object", { options: '["a",1]' }, /m2 of session s1 cannot be read/],
  ["a session that is not there", { session_id: "s3" }, /session s3 is not in it/],
] as const)("a row that has %s is judged by what it has", (_, third, message) => {
  const fault = faultOf(third)
  if (message === undefined) expect(fault).toBeUndefined()
  else expect(fault).toMatch(message)
})

test.each([
  ["all that a part has", {}, undefined],
  ["no message", { message_id: "" }, /cannot be read/],
  ["no id", { id: "" }, /cannot be read/],
  ["a place before the first", { ordinal: -1 }, /cannot be read/],
] as const)("a part with %s is judged by it", (_, values, message) => {
  const checker = createRowChecker()
  const parts = PARTS as unknown as TableDefinition
  const known = { ...owner, id: "s1", created_at: MOMENT, options: "{}" }
  expect(checker.sessions(batchOfRows(sessions, [rowOf(sessions, known)]))).toBeUndefined()
  const part = { ...owner, session_id: "s1", message_id: "m1", id: "p1", type: "text", provenance: "conversational" }
  const row = rowOf(parts, { ...part, lane: "main", role: "user", text: "said", options: "{}", variant_data: "{}" })
  const fault = checker.parts(batchOfRows(parts, [{ ...row, ...values }]))
  if (message === undefined) expect(fault).toBeUndefined()
  else expect(fault).toMatch(message)
})
