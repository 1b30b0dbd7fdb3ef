/** Which route an operation has: derived from what it takes and whether it changes anything, for both ends of the wire. */
import type { Operation } from "../operations/operation.ts"

/** A read with nothing to say beyond the envelope is a GET; the envelope is its query. */
export function methodOf({ input, read }: Pick<Operation, "input" | "read">): "GET" | "POST" {
  const { properties = {} } = input as { readonly properties?: object }
  return read && Object.keys(properties).length === 0 ? "GET" : "POST"
}

export function routePath({ name }: Pick<Operation, "name">): string {
  return `/v1/${name}`
}
