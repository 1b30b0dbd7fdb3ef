/** Which route an operation has: derived from what it takes and whether it changes anything, for both ends of the wire. */
import { PROTOCOL_VERSION } from "../operations/envelope.ts"
import type { Operation } from "../operations/operation.ts"
import { VERSION } from "../platform/host/version.ts"

/** A read with nothing to say beyond the envelope is a GET; the envelope is its query. */
export function methodOf({ input, read }: Pick<Operation, "input" | "read">): "GET" | "POST" {
  const { properties = {} } = input as { readonly properties?: object }
  return read && Object.keys(properties).length === 0 ? "GET" : "POST"
}

export function routePath({ name }: Pick<Operation, "name">): string {
  return `/v1/${name}`
}

/** What says that a pond listens, of which version. */
export const HEALTH_PATH = "/healthz"

export function healthAnswer(): Response {
  return Response.json({ ok: true, version: VERSION, protocol_version: PROTOCOL_VERSION })
}
