/** What is published: a JSON Schema for each request and answer, and an OpenAPI document over them. */
import { ERROR_TABLE, type ErrorCode } from "../model/errors.ts"
import { IngestEvent } from "../model/session.ts"
import { requestSchema, responseSchema } from "../operations/envelope.ts"
import { COMMON_ERRORS, type Operation } from "../operations/operation.ts"
import { EXPORT_MIMES } from "../operations/sql/exports.ts"
import { LOCAL_OPERATIONS, OPERATIONS } from "../operations/table.ts"
import { VERSION } from "../platform/host/version.ts"
import { methodOf, routePath } from "./route.ts"

type Json = Readonly<Record<string, unknown>>

const ERROR_SCHEMA: Json = {
  type: "object",
  required: ["error"],
  additionalProperties: false,
  properties: {
    error: {
      type: "object",
      required: ["code", "message", "details"],
      additionalProperties: false,
      properties: {
        code: { type: "string", enum: Object.keys(ERROR_TABLE) },
        message: { type: "string" },
        details: { type: "object" },
      },
    },
  },
}

/** By name: those of the wire, and the documents that `pond … --json` prints for the local operations. */
export function schemas(): ReadonlyMap<string, Json> {
  const documents = LOCAL_OPERATIONS.map((each): [string, Json] => [
    `${each.name}_document`,
    plain(responseSchema(each)),
  ])
  return new Map([...wireSchemas(), ...documents])
}

function wireSchemas(): Map<string, Json> {
  const all = new Map<string, Json>([
    ["error", ERROR_SCHEMA],
    ["ingest_event", plain(IngestEvent)],
  ])
  for (const operation of OPERATIONS) {
    all.set(`${operation.name}_request`, plain(requestSchema(operation)))
    all.set(`${operation.name}_response`, plain(responseSchema(operation)))
  }
  return all
}

export function openApi(): Json {
  const paths = Object.fromEntries(OPERATIONS.map((operation) => [routePath(operation), routeOf(operation)]))
  return {
    openapi: "3.1.0",
    info: {
      title: "pond",
      version: VERSION,
      description: "Every conversation with your coding agents, stored and searchable.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The pond server that sent this document." }],
    // None on a Unix socket or with --no-token.
    security: [{ token: [] }, { password: [] }, {}],
    paths: { ...paths, "/v1/sql/exports/{id}": EXPORT_PATH },
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "Kept in the file that pond serve names." },
        password: { type: "http", scheme: "basic", description: "The token, as the password of any user." },
      },
      schemas: Object.fromEntries(wireSchemas()),
    },
  }
}

const EXPORT_PATH: Json = {
  get: {
    operationId: "sql_export",
    summary: "Read a file written by a query.",
    parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
    responses: {
      200: {
        description: "The file.",
        content: Object.fromEntries(
          Object.values(EXPORT_MIMES).map((mime) => [mime, { schema: { type: "string", format: "binary" } }]),
        ),
      },
      404: { description: "not_found", content: content("error") },
    },
  },
}

function routeOf(operation: Operation): Json {
  const { name, summary, errors } = operation
  const body = { required: true, content: content(`${name}_request`) }
  const answer = {
    description: "The result.",
    content: content(`${name}_response`),
    headers: { "X-Pond-Request-Id": { schema: { type: "string" } } },
  }
  const failures = Map.groupBy([...COMMON_ERRORS, ...errors], (code: ErrorCode) => String(ERROR_TABLE[code].http))
  const responses = Object.fromEntries(
    [...failures].map(([status, codes]) => [status, { description: codes.join(", "), content: content("error") }]),
  )
  const described = { operationId: name, summary, responses: { 200: answer, ...responses } }
  return methodOf(operation) === "GET" ? { get: described } : { post: { ...described, requestBody: body } }
}

function content(schema: string): Json {
  return { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } }
}

/** A TypeBox schema is JSON Schema; what else it carries does not show in JSON. */
function plain(schema: unknown): Json {
  return JSON.parse(JSON.stringify(schema)) as Json
}
