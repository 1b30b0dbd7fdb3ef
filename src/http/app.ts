/**
 * HTTP over the table of operations: routes, the check of the host, the closed errors. No operation is here, and nothing
 * that failed in a way nobody planned is shown outside.
 */
import { Elysia } from "elysia"
import type { TSchema } from "typebox"
import { ERROR_TABLE, PondError, toPondError } from "../model/errors.ts"
import {
  PROTOCOL_VERSION,
  performRequest,
  querySchema,
  refuseRequest,
  requestSchema,
  responseSchema,
} from "../operations/envelope.ts"
import type { Operation } from "../operations/operation.ts"
import type { Pond } from "../operations/pond.ts"
import { EXPORT_MIMES, storedExport } from "../operations/sql/exports.ts"
import { OPERATIONS } from "../operations/table.ts"
import { type Checked, checkValue, checkWhole, type Fault, invalidRequest } from "../operations/validation.ts"
import { type Fetch, refusalOf } from "./access.ts"
import { BODY_LIMITS, type BodyLimits, readBytes, readJsonBody } from "./body.ts"
import { PAGE_PATHS, pageFile } from "./page.ts"
import { HEALTH_PATH, healthAnswer, methodOf, routePath } from "./route.ts"
import { openApi, schemas } from "./schemas.ts"

export interface HttpContext {
  readonly pond: Pond
  /** Names of hosts that a request may be addressed to, besides this machine's own. */
  readonly allowedHosts: readonly string[]
  readonly limits?: Partial<BodyLimits>
  /** How long an operation may take. */
  readonly timeoutMs?: number
  /** Whether the page at `/` is served. */
  readonly hasPage?: boolean
  /** A port without a token: any program of the machine asks there, so operations that need the token are not answered. */
  readonly isUnguarded?: boolean
  /** The MCP transport, where there is one. */
  readonly mcp?: (request: Request) => Promise<Response>
}

/** Longer than a query may ask for. */
const TIMEOUT_MS = 245_000
const REQUEST_ID = "x-pond-request-id"

/** One request in, one answer out: what a server of any kind listens with. */
export function createHttp(context: HttpContext): Fetch {
  const app = routes(context)
  // The routes are put together at the first request. A process that asks whether there is a pond waits for no such thing.
  void app.handle(new Request("http://localhost/healthz", { headers: { host: "localhost" } }))
  return async (request) => {
    const requestId = Bun.randomUUIDv7()
    const response = await app.handle(request).catch((error: unknown) => failure(context, error))
    response.headers.set(REQUEST_ID, requestId)
    return response
  }
}

function routes(context: HttpContext) {
  const published = schemas()
  const document = openApi()
  const app = new Elysia({ normalize: false })
    .onError({ as: "global" }, ({ code, error, request }) => {
      if (code === "NOT_FOUND") return failure(context, noRoute(request))
      // What reading a body threw stands inside an error of Elysia's.
      return failure(context, code === "PARSE" ? error.cause : error)
    })
    .onRequest(({ request }) => {
      const refusal = refusalOf(request, context.allowedHosts)
      return refusal === undefined ? undefined : failure(context, refusal)
    })
    .get(HEALTH_PATH, healthAnswer)
    .get("/v1/openapi.json", () => Response.json(document))
    .get("/v1/schema", () => Response.json({ protocol_version: PROTOCOL_VERSION, schemas: [...published.keys()] }))
    .get("/v1/schema/:name", ({ params: { name } }) => {
      const schema = published.get(name.replace(/\.json$/, ""))
      return schema === undefined ? failure(context, noSchema(name, [...published.keys()])) : Response.json(schema)
    })
    .get("/v1/sql/exports/:id", ({ params: { id } }) => sendExport(context, id))
  for (const operation of OPERATIONS) addRoute(app as unknown as Elysia, context, operation)
  const { mcp, hasPage = false } = context
  if (hasPage) for (const path of PAGE_PATHS) app.get(path, ({ request }) => pageFile(path, request))
  if (mcp !== undefined)
    app.all("/mcp", async ({ request }) => mcp(await limitBody(context, request)), { parse: "none" })
  return app
}

/** Elysia checks the request and the answer with the published schemas; what is wrong with either leaves through `onError`. */
function addRoute(app: Elysia, context: HttpContext, operation: Operation): void {
  const path = routePath(operation)
  const { surfaces } = operation
  const isRefused = context.isUnguarded === true && "http" in surfaces && surfaces.needsToken === true
  const run = async (request: Request, asked: unknown) => {
    if (isRefused) throw needsToken(operation)
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(context.timeoutMs ?? TIMEOUT_MS)])
    return await performRequest(operation, context.pond, signal, asked as object)
  }
  const response = { 200: answerChecker(responseSchema(operation), wrongAnswer) }
  if (methodOf(operation) === "GET") {
    const query = requestChecker(querySchema(operation), (_, faults) => invalidRequest(faults))
    app.get(path, ({ request, query: asked }) => run(request, asked), { query, response })
    return
  }
  const parse = ({ request }: { readonly request: Request }) => {
    if (!operation.read) requireJson(request)
    return readJsonBody(request, { ...BODY_LIMITS, ...context.limits })
  }
  const body = requestChecker(requestSchema(operation), refuseRequest)
  app.post(path, ({ request, body: asked }) => run(request, asked), { parse, body, response })
}

/** A page of another site can send any other type without asking first (CORS), and would write here unseen. */
function requireJson({ headers }: Request): void {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  if (type === "application/json") return
  throw new PondError("validation_failed", "The header content-type must be application/json.", {
    details: { header: "content-type" },
  })
}

/** An answer that is not as published is our own fault. */
function wrongAnswer(_: unknown, faults: readonly Fault[]): Error {
  return new TypeError(
    `The answer is not as published: ${faults.map(({ path, message }) => `${path} ${message}`).join("; ")}`,
  )
}

/** What the protocol's own library would read without an end to it. */
async function limitBody(context: HttpContext, request: Request): Promise<Request> {
  if (request.body === null) return request
  const body = await readBytes(request, { ...BODY_LIMITS, ...context.limits })
  return new Request(request.url, { method: request.method, headers: request.headers, body, signal: request.signal })
}

/** Of any length: the file goes out as it is read. */
function sendExport(context: HttpContext, id: string): Response {
  try {
    const { path, format } = storedExport(context.pond.host, id)
    return new Response(Bun.file(path), {
      headers: {
        "content-type": EXPORT_MIMES[format],
        "content-disposition": `attachment; filename="${id}"`,
        "x-content-type-options": "nosniff",
      },
    })
  } catch (error) {
    return failure(context, error)
  }
}

/** One shape for every failure. What no row of the table names is logged, and is `internal` outside. */
function failure({ pond }: HttpContext, thrown: unknown): Response {
  const error = toPondError(thrown)
  if (error.code === "internal") pond.host.log.warn(`${error.message} ${stackOf(error.cause ?? thrown)}`)
  const { code, message, details } = error
  return Response.json({ error: { code, message, details } }, { status: ERROR_TABLE[code].http })
}

function stackOf(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}

function needsToken({ name }: Operation): PondError {
  return new PondError(
    "unauthorized",
    `${name} is not available on a server without a token. Start pond without --no-token, or use the command line.`,
  )
}

function noRoute({ url }: Request): PondError {
  const { pathname } = new URL(url)
  const operation = OPERATIONS.find((each) => pathname === routePath(each))
  const taken = operation === undefined ? "" : `: ${pathname} takes ${methodOf(operation)}`
  return new PondError("not_found", `No such route${taken}. GET /v1/openapi.json lists all routes.`)
}

function noSchema(name: string, known: readonly string[]): PondError {
  return new PondError("not_found", `No schema "${name}". Schemas: ${known.join(", ")}.`, {
    details: { schemas: known },
  })
}

// --- Schemas as Elysia validates them --------------------------------------------------------------------------------

// A TypeBox 1 schema as Elysia takes one: through the Standard Schema interface, because Elysia's own TypeBox is of another
// major version. Elysia so checks requests and answers with the very object that is published.

interface StandardSchema {
  readonly schema: TSchema
  readonly "~standard": {
    readonly version: 1
    readonly vendor: "pond"
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined
    readonly validate: (value: unknown) => { readonly value: unknown }
  }
}

type Refuse = (value: unknown, faults: readonly Fault[]) => Error

/** Of a request: absent fields get their defaults. */
export function requestChecker(schema: TSchema, refuse: Refuse): StandardSchema {
  return standardSchema(schema, (value) => checkValue(schema, value, "server"), refuse)
}

/** Of an answer, which is passed on as it is. */
function answerChecker(schema: TSchema, refuse: Refuse): StandardSchema {
  return standardSchema(schema, (value) => checkWhole(schema, value, "server"), refuse)
}

/**
 * What is wrong is thrown as pond's own error instead of being returned as issues: of those Elysia makes an error with the
 * whole value in its message, and checks the value a second time to do so.
 */
function standardSchema(schema: TSchema, check: (value: unknown) => Checked, refuse: Refuse): StandardSchema {
  const validate = (value: unknown) => {
    const checked = check(value)
    if (!checked.ok) throw refuse(value, checked.faults)
    return checked
  }
  return { schema, "~standard": { version: 1, vendor: "pond", validate } }
}
