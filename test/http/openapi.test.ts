import { expect, test } from "bun:test"
import { Validator } from "@seriousme/openapi-schema-validator"
import { openApi, schemas } from "../../src/http/schemas.ts"
import { ERROR_TABLE } from "../../src/model/errors.ts"
import { OPERATIONS } from "../../src/operations/table.ts"

type Document = {
  paths: Record<string, Record<string, { responses: Record<string, unknown>; operationId: string }>>
  components: { schemas: Record<string, unknown> }
}

const document = () => structuredClone(openApi()) as unknown as Document

async function judged(given: Document): Promise<{ valid: boolean; errors: unknown }> {
  const { valid, errors } = await new Validator().validate(given as unknown as Record<string, unknown>)
  return { valid, errors: errors ?? [] }
}

test("the OpenAPI document is one, says a validator that is not ours", async () => {
  expect(await judged(document())).toEqual({ valid: true, errors: [] })
  const broken = document()
  Object.assign(broken.paths["/v1/get"]?.["post"] ?? {}, { responses: 7 })
  expect((await judged(broken)).valid).toBe(false)
})

test("the document says where its server is, under which licence, and that a token may be asked for", () => {
  expect(openApi()).toMatchObject({
    info: { license: { identifier: "Apache-2.0" } },
    servers: [{ url: "/" }],
    security: [{ token: [] }, { password: [] }, {}],
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  })
})

test("every reference of the document leads to a schema, every schema is published, and no operation is named twice", () => {
  const { paths, components } = document()
  const references = [...JSON.stringify(paths).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
    ([, name]) => name ?? "",
  )
  expect(new Set(references).size).toBeGreaterThanOrEqual(2 * OPERATIONS.length)
  expect(references.filter((name) => !(name in components.schemas))).toEqual([])
  // Documents of the command line are published beside those of the wire, and are no part of its description.
  const ofTheWire = [...schemas().keys()].filter((name) => !name.endsWith("_document"))
  expect(new Set(Object.keys(components.schemas))).toEqual(new Set(ofTheWire))
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  expect(new Set(ids).size).toBe(ids.length)
})

test("every operation says the statuses of its errors, and none that the table does not have", () => {
  const known = new Set(["200", ...Object.values(ERROR_TABLE).map(({ http }) => String(http))])
  for (const [path, methods] of Object.entries(document().paths)) {
    for (const { responses } of Object.values(methods)) {
      expect({ path, strange: Object.keys(responses).filter((status) => !known.has(status)) }).toEqual({
        path,
        strange: [],
      })
      if (!path.includes("{"))
        expect(Object.keys(responses)).toEqual(expect.arrayContaining(["200", "400", "403", "500", "503"]))
    }
  }
})
