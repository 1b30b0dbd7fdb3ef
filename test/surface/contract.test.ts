import { afterAll, beforeAll, expect, test } from "bun:test"
import type { TSchema } from "typebox"
import { Compile } from "typebox/compile"
import type { Fetch } from "../../src/http/access.ts"
import { createHttp } from "../../src/http/app.ts"
import { schemas } from "../../src/http/schemas.ts"
import { OPERATIONS } from "../../src/operations/table.ts"
import { type TestPond, testPond } from "../operations/support.ts"
import { said, session } from "../sessions/support.ts"
import { POND } from "../support/bundled-pond.ts"

/**
 * What others rely on, frozen as literals: the fields of requests and answers, the bodies of errors, the documents of the
 * command line. Fields may be added, here too. A name that changes or goes breaks somebody, and this.
 */
let box: TestPond
let answer: Fetch

beforeAll(async () => {
  box = testPond()
  await box.place.sessions.write([{ session: session("s"), entries: [said("s", 0, "hello world")] }])
  answer = createHttp({ pond: box.pond, allowedHosts: [] })
})
afterAll(() => box[Symbol.dispose]())

const FIELDS: Readonly<Record<string, string>> = {
  blame_request: "protocol_version namespace? path content line?",
  blame_response: "protocol_version path lines attributed changes ranges",
  cost_request: "protocol_version namespace? by? filters? limit?",
  cost_response: "protocol_version by rows rows_count total unpriced_models repeated_records prices",
  error: "error",
  search_request:
    "protocol_version namespace? query? queries? filters? limit? cursor? mode? scope? sort? group? similar_to? near? explain? for_reading? text_budget?",
  search_response:
    "protocol_version sessions? matches? matched_total matched_more? has_more next_cursor? searched explanation?",
  sessions_request: "protocol_version namespace? filters? limit? cursor? facets?",
  sessions_response: "protocol_version sessions has_more next_cursor? facets?",
  erase_sessions_request: "protocol_version namespace? session_ids dry_run? undo?",
  erase_sessions_response:
    "protocol_version action sessions messages parts vectors attachments shared_attachments waiting purged",
  label_request: "protocol_version namespace? session_id name? star? unstar? tags? untag? note?",
  label_response: "protocol_version session_id name? starred tags note?",
  render_request:
    "protocol_version namespace? session_id after_id? limit? conversation_only? include_subagents? redact?",
  render_response: "protocol_version session_id html map messages_remaining next_after_id?",
  stats_request: "protocol_version namespace? by? from? to?",
  stats_response: "protocol_version by rows sessions count",
  files_request: "protocol_version namespace? session_id",
  files_response: "protocol_version session_id files",
  get_request:
    "protocol_version namespace? session_id? message_id? session_id_of_message? response_mode? session_from? context_depth? limit? tree? raw? after_id?",
  get_response: "protocol_version session title? result children tree? record?",
  sql_request: "protocol_version namespace? sql output? limit? timeout_ms?",
  sql_response: "protocol_version columns rows? table? export? row_count truncated elapsed_ms read notes?",
  ingest_request: "protocol_version namespace? events",
  ingest_response: "protocol_version results",
  export_request: "protocol_version namespace? session_id after_id? limit?",
  export_response: "protocol_version events messages_remaining next_after_id?",
  recover_request: "protocol_version namespace? path at?",
  recover_response: "protocol_version path versions chosen? content?",
  recall_request: "protocol_version namespace? prompt near session_id? without? tokens?",
  recall_response: "protocol_version passages",
  session_notes_request: "protocol_version namespace? session_id tokens?",
  session_notes_response: "protocol_version decisions commands",
  restore_plan_request: "protocol_version namespace? session_id to? cwd? reasoning? anew?",
  restore_plan_response: "protocol_version fidelity outdated session_id sessions files losses rewritten_paths resume",
  status_request: "protocol_version namespace?",
  status_response:
    "protocol_version version store namespace sessions messages parts blobs vectors? by_agent bytes damage indexes",
}

test("the fields of every request and every answer are the published ones", () => {
  const found = [...schemas()].filter(([name]) => name !== "ingest_event" && !name.endsWith("_document"))
  const fields = found.map(([name, schema]) => {
    const { properties, required = [] } = schema as { properties: object; required?: readonly string[] }
    return [
      name,
      Object.keys(properties)
        .map((key) => (required.includes(key) ? key : `${key}?`))
        .join(" "),
    ]
  })
  expect(Object.fromEntries(fields)).toEqual(FIELDS)
})

async function ask(path: string, fields?: object, version: unknown = 1): Promise<{ status: number; body: unknown }> {
  const init =
    fields === undefined ? {} : { method: "POST", body: JSON.stringify({ protocol_version: version, ...fields }) }
  const headers = { host: "localhost", "content-type": "application/json" }
  const response = await answer(new Request(`http://localhost${path}`, { headers, ...init }))
  return { status: response.status, body: await response.json() }
}

test("what is answered has the shape that is published", async () => {
  const asked: readonly (readonly [name: string, fields: object | undefined])[] = [
    ["search", { query: "hello" }],
    ["search", { query: "hello", group: "none" }],
    ["search", { query: "hello", for_reading: true, text_budget: 1000 }],
    ["search", { query: "hello", group: "none", for_reading: true }],
    ["search", { query: "nothing of the kind" }],
    ["sessions", {}],
    ["sessions", { limit: 1, filters: { project: { contains: "w" } } }],
    ["cost", {}],
    ["cost", { by: "session", filters: { source_agent: "claude-code" }, limit: 1 }],
    ["get", { session_id: "s" }],
    ["get", { session_id: "s", response_mode: "verbatim" }],
    ["get", { session_id: "s", tree: true }],
    ["get", { message_id: "m0", context_depth: 2 }],
    ["sql", { sql: "select * from messages" }],
    ["sql", { sql: "select 1", output: "table" }],
    ["sql", { sql: "select 1", output: "csv" }],
    ["export", { session_id: "s" }],
    ["ingest", { events: [{ kind: "session", ...session("s") }] }],
    ["ingest", { events: [{ kind: "nothing" }] }],
    ["status", undefined],
  ]
  for (const [name, fields] of asked) {
    const { status, body } = await ask(`/v1/${name}`, fields)
    const schema = Compile(schemas().get(`${name}_response`) as unknown as TSchema)
    expect({ name, fields, status, faults: [...schema.Errors(body)].map((fault) => fault.instancePath) }).toEqual({
      name,
      fields,
      status: 200,
      faults: [],
    })
  }
})

test("the bodies of errors are these", async () => {
  const errors: readonly (readonly [path: string, fields: object, version: unknown, status: number, body: object])[] = [
    [
      "/v1/get",
      { session_id: "nowhere" },
      1,
      404,
      {
        code: "not_found",
        message: "No session nowhere in this store. `pond search` prints the ids of sessions.",
        details: { session_id: "nowhere" },
      },
    ],
    [
      "/v1/get",
      {},
      2,
      400,
      {
        code: "version_unsupported",
        message: "This pond supports protocol version 1, not 2.",
        details: { protocol_version: 2, supported: [1] },
      },
    ],
    [
      "/v1/get",
      {},
      "1",
      400,
      {
        code: "validation_failed",
        message: "Invalid request at /protocol_version: must be an integer; this pond supports 1.",
        details: { faults: [{ path: "/protocol_version", message: "must be an integer; this pond supports 1" }] },
      },
    ],
    [
      "/v1/search",
      { query: "x", limit: 0 },
      1,
      400,
      {
        code: "validation_failed",
        message: "Invalid request at /limit: must be >= 1.",
        details: { faults: [{ path: "/limit", message: "must be >= 1" }] },
      },
    ],
    [
      "/v1/get",
      { session_id: "s", namespace: "tenant" },
      1,
      403,
      { code: "namespace_unknown", message: expect.any(String), details: expect.any(Object) },
    ],
    [
      "/v1/nothing",
      {},
      1,
      404,
      {
        code: "not_found",
        message: "No such route. GET /v1/openapi.json lists all routes.",
        details: {},
      },
    ],
    [
      "/v1/sql",
      { sql: "drop table messages" },
      1,
      400,
      {
        code: "validation_failed",
        message: "Only one SELECT (or WITH … SELECT) is allowed: no writes, no files, no settings.",
        details: {},
      },
    ],
  ]
  for (const [path, fields, version, status, error] of errors) {
    expect(await ask(path, fields, version)).toEqual({ status, body: { error } })
  }
})

// --- The command line --------------------------------------------------------------------------------------------------

const DOCUMENTS: readonly (readonly [words: readonly string[], code: number, fields: string])[] = [
  [["get", "s"], 0, "protocol_version session title result children"],
  [["get", "s", "--tree"], 0, "protocol_version session title result children tree"],
  [["search", "hello"], 0, "protocol_version sessions matched_total has_more searched"],
  [["sql", "select 1 one"], 0, "protocol_version columns rows row_count truncated elapsed_ms read"],
  [
    ["sql", "select 1 one", "--format", "ndjson"],
    0,
    "protocol_version columns export row_count truncated elapsed_ms read",
  ],
  [["sql", "drop table messages"], 2, "error"],
  [["get", "nowhere"], 3, "error"],
]

test.each(DOCUMENTS)(
  "pond %p --json ends with %i and prints one document of its fields",
  async (words, code, fields) => {
    const { HOME, XDG_STATE_HOME, XDG_CACHE_HOME } = box.pond.host.environment
    const child = Bun.spawn([process.execPath, POND, ...words, "--json"], {
      env: { HOME, XDG_STATE_HOME, XDG_CACHE_HOME, POND_STORE: box.place.path },
      stdout: "pipe",
      stderr: "pipe",
    })
    const out = await new Response(child.stdout).text()
    const document = JSON.parse(out) as Record<string, unknown>
    expect({
      code: await child.exited,
      fields: Object.keys(document).toSorted((left, right) => (left < right ? -1 : 1)),
    }).toEqual({
      code,
      fields: fields.split(" ").toSorted((left, right) => (left < right ? -1 : 1)),
    })
    if (code !== 0) expect(Object.keys(document["error"] as object)).toEqual(["code", "message", "details"])
  },
  60_000,
)

test("these operations of the wire change something, and a page of another site cannot send what they take", () => {
  const changing = OPERATIONS.filter(({ surfaces, read }) => "http" in surfaces && surfaces.http && !read)
  expect(changing.map(({ name }) => name).toSorted()).toEqual(["erase_sessions", "ingest", "label"])
})
