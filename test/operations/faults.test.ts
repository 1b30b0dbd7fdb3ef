/** What is wrong with a request is said once, and with what would be right. */
import { describe, expect, test } from "bun:test"
import { Type } from "typebox"
import { PondError } from "../../src/model/errors.ts"
import { closedObject } from "../../src/operations/operation.ts"
import { validateInput } from "../../src/operations/validation.ts"

const Request = closedObject({
  mode: Type.Optional(Type.Union([Type.Literal("words"), Type.Literal("exact")])),
  limit: Type.Optional(Type.Integer({ maximum: 10 })),
  name: Type.Optional(Type.String({ minLength: 1 })),
  filters: Type.Optional(closedObject({ role: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)])) })),
})

describe.each(["command", "server"] as const)("in a %s", (lifetime) => {
  test.each<[unknown, string[]]>([
    [{ mode: "regex" }, ["/mode must be one of words, exact"]],
    [{ mode: 5 }, ["/mode must be one of words, exact"]],
    [{ mod: "words" }, ["/mod is not known; known are mode, limit, name, filters"]],
    [
      { filters: { role: 3, rule: 1 } },
      ["/filters/role must be one of 1, 2", "/filters/rule is not known; known are role"],
    ],
    [{ limit: "5", name: "" }, ["/limit must be integer", "/name must not be empty"]],
    [{ limit: 11 }, ["/limit must be <= 10"]],
    [[], [" must be object"]],
  ])("%j", (given, wanted) => {
    const thrown = (() => {
      try {
        return validateInput(Request, given, lifetime)
      } catch (error) {
        return error
      }
    })() as PondError
    expect(thrown).toBeInstanceOf(PondError)
    const faults = thrown.details["faults"] as { readonly path: string; readonly message: string }[]
    const told = faults.map(({ path, message }) => `${path} ${message}`)
    expect({ told: new Set(told), count: told.length }).toEqual({ told: new Set(wanted), count: wanted.length })
    expect(thrown.message).toStartWith("Invalid request at ")
  })
})
