/** The quick check of requests never vouches for what the validator refuses, and knows all keywords of requests. */
import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { type TSchema, Type } from "typebox"
import { Value } from "typebox/value"
import { isPlainlyValid, withDefaults } from "../../src/operations/plain-check.ts"

const RUNS = Number(process.env["POND_PROPERTY_RUNS"] ?? 60)
const FOLDER = join(import.meta.dir, "../../src/operations")

async function inputs(): Promise<[string, TSchema][]> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && /= define(?:Local)?Operation\(/.test(readFileSync(join(FOLDER, name), "utf8")),
  )
  const modules = await Promise.all(files.map((name) => import(join(FOLDER, name))))
  const all = modules.flatMap((module) => Object.values(module) as { name?: string; input?: TSchema; run?: unknown }[])
  return all.flatMap(({ name, input, run }) =>
    name === undefined || input === undefined || run === undefined ? [] : [[name, input]],
  )
}

const INPUTS = await inputs()

test("there are requests to check", () => {
  expect(INPUTS.length).toBeGreaterThan(40)
})

const SCALAR = fc.oneof(
  ...[fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.constant(undefined)],
  fc.constantFrom("", "words", "exact", "user", 0, 1, -1, 10_001, 1e9, "2026-01-01"),
)

/** Values for the fields that there are, and for some that are not. */
function requestsFor(schema: TSchema): fc.Arbitrary<Record<string, unknown>> {
  const names = Object.keys((schema as unknown as { properties: object }).properties)
  const name = fc.constantFrom(...names, "unknown", "constructor", "__proto__")
  const value = fc.oneof(
    SCALAR,
    fc.array(SCALAR, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("role", "from", "project", "x"), SCALAR),
  )
  return fc.dictionary(name, value, { maxKeys: 5 })
}

test.each(INPUTS)("what it vouches for in %s is valid, and defaults are those of the validator", (_, schema) => {
  fc.assert(
    fc.property(requestsFor(schema), (given) => {
      expect(withDefaults(schema, given)).toEqual(Value.Default(schema, { ...given }) as Record<string, unknown>)
      if (isPlainlyValid(schema, given)) expect(Value.Check(schema, given)).toBe(true)
    }),
    { numRuns: RUNS },
  )
})

const Request = Type.Object(
  {
    mode: Type.Optional(Type.Union([Type.Literal("words"), Type.Literal("exact")])),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    name: Type.String({ minLength: 1, maxLength: 4 }),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 2 })),
  },
  { additionalProperties: false },
)

test.each<[object, boolean]>([
  [{ name: "a" }, true],
  [{ name: "a", mode: "exact", limit: 10, tags: ["x", "y"] }, true],
  [{}, false],
  [{ name: "" }, false],
  [{ name: "abcde" }, false],
  [{ name: 5 }, false],
  [{ name: "a", mode: "other" }, false],
  [{ name: "a", limit: 0 }, false],
  [{ name: "a", limit: 11 }, false],
  [{ name: "a", limit: 1.5 }, false],
  [{ name: "a", tags: ["x", "y", "z"] }, false],
  [{ name: "a", tags: [""] }, false],
  [{ name: "a", tags: "x" }, false],
  [{ name: "a", constructor: 1 }, false],
  [JSON.parse('{ "name": "a", "__proto__": 1 }'), false],
])("%j: %p", (given, isValid) => {
  expect(isPlainlyValid(Request, given)).toBe(isValid)
})

test("a keyword that it does not know is left to the validator", () => {
  expect(isPlainlyValid(Type.String({ pattern: "." }), "a")).toBe(false)
  expect(isPlainlyValid(Type.String({ minLength: 2 }), "ab")).toBe(false)
})
