/** Elysia checks with the objects that are published, and what is wrong leaves in pond's own shape. */
import { expect, test } from "bun:test"
import { createHttp, requestChecker } from "../../src/http/app.ts"
import { schemas } from "../../src/http/schemas.ts"
import { requestSchema, responseSchema } from "../../src/operations/envelope.ts"
import type { Pond } from "../../src/operations/pond.ts"
import { OPERATIONS } from "../../src/operations/table.ts"
import { memoryPond } from "../operations/support.ts"

test("what is published is the very object that a route checks with", () => {
  for (const operation of OPERATIONS) {
    expect(requestSchema(operation)).toBe(requestSchema(operation))
    const { schema } = requestChecker(requestSchema(operation), () => new Error("refused"))
    expect(schemas().get(`${operation.name}_request`)).toEqual(JSON.parse(JSON.stringify(schema)))
    expect(schemas().get(`${operation.name}_response`)).toEqual(JSON.parse(JSON.stringify(responseSchema(operation))))
  }
})

async function ask(pond: Pond, path: string, fields?: object): Promise<{ status: number; error?: object }> {
  const init = fields === undefined ? {} : { method: "POST", body: JSON.stringify({ protocol_version: 1, ...fields }) }
  const request = new Request(`http://localhost${path}`, { headers: { host: "localhost" }, ...init })
  const response = await createHttp({ pond, allowedHosts: [] })(request)
  const { error } = (await response.json()) as { error?: { code: string; message: string; details: object } }
  return { status: response.status, ...(error === undefined ? {} : { error }) }
}

test("an unknown field is refused with its path, in a body and in a query", async () => {
  using box = memoryPond()
  const known = "is not known; known are protocol_version, namespace, query"
  expect(await ask(box.pond, "/v1/search", { query: "x", limt: 1 })).toMatchObject({
    status: 400,
    error: {
      code: "validation_failed",
      details: { faults: [{ path: "/limt", message: expect.stringMatching(known) }] },
    },
  })
  expect(await ask(box.pond, "/v1/status?limt=1")).toMatchObject({
    status: 400,
    error: { details: { faults: [{ path: "/limt", message: "is not known; known are namespace" }] } },
  })
  expect(await ask(box.pond, "/v1/status?namespace=local")).toEqual({ status: 200 })
})

test("an answer that is not as published is our fault, and shows nothing of itself", async () => {
  using box = memoryPond()
  const pond: Pond = { ...box.pond, remote: () => Promise.resolve({ value: { secret: "inside" } }) }
  const within: Pond = { ...pond, within: () => Promise.resolve(pond) }
  const answer = await ask(within, "/v1/search", { query: "x" })
  expect(answer).toMatchObject({ status: 500, error: { code: "internal" } })
  expect(JSON.stringify(answer)).not.toContain("secret")
})
