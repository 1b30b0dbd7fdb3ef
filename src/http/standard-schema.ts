/**
 * A TypeBox 1 schema as Elysia takes one: through the Standard Schema interface, because Elysia's own TypeBox is of another
 * major version. Elysia so checks requests and answers with the very object that is published.
 */
import type { TSchema } from "typebox"
import { type Checked, checkValue, checkWhole, type Fault } from "../operations/validation.ts"

export interface StandardSchema {
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
export function answerChecker(schema: TSchema, refuse: Refuse): StandardSchema {
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
