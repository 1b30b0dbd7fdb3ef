/**
 * The envelope of a request: which protocol it speaks and which namespace it means, beside the fields of its operation.
 * What a surface does with a request begins here and is the same for all of them.
 */
import { type TSchema, Type } from "typebox"
import { PondError } from "../model/errors.ts"
import { type Operation, perform } from "./operation.ts"
import type { Pond } from "./pond.ts"

export const PROTOCOL_VERSION = 1

/** The published shape of a whole request body. */
export function requestSchema({ input }: Operation): TSchema {
  const { properties } = input as unknown as { properties: Record<string, TSchema> }
  return Type.Object(
    {
      protocol_version: Type.Literal(PROTOCOL_VERSION, {
        description: "The protocol version of the request.",
      }),
      namespace: Type.Optional(
        Type.String({ minLength: 1, description: "The namespace to use (default: the one pond was started with)." }),
      ),
      ...properties,
    },
    { additionalProperties: false },
  )
}

/** The published shape of a whole answer, or of the document that `--json` prints. */
export function responseSchema({ output }: Operation): TSchema {
  const { anyOf } = output as unknown as { anyOf?: readonly TSchema[] }
  return anyOf === undefined ? withVersion(output) : Type.Union(anyOf.map(withVersion))
}

function withVersion(output: TSchema): TSchema {
  const { properties } = output as unknown as { properties: Record<string, TSchema> }
  return Type.Object(
    { protocol_version: Type.Literal(PROTOCOL_VERSION), ...properties },
    { additionalProperties: false },
  )
}

export async function performRequest(
  operation: Operation,
  pond: Pond,
  signal: AbortSignal,
  body: unknown,
): Promise<unknown> {
  const { namespace, input } = openEnvelope(body)
  return await perform(operation, { pond: await pond.within(namespace), signal }, input)
}

function openEnvelope(body: unknown): { readonly namespace: string | undefined; readonly input: unknown } {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw bad("", "must be a JSON object")
  const { protocol_version: version, namespace, ...input } = body as Record<string, unknown>
  if (typeof version !== "number" || !Number.isInteger(version))
    throw bad("/protocol_version", `must be an integer; this pond supports ${PROTOCOL_VERSION}`)
  if (version !== PROTOCOL_VERSION) {
    throw new PondError(
      "version_unsupported",
      `This pond supports protocol version ${PROTOCOL_VERSION}, not ${version}.`,
      {
        details: { protocol_version: version, supported: [PROTOCOL_VERSION] },
      },
    )
  }
  if (namespace !== undefined && (typeof namespace !== "string" || namespace === ""))
    throw bad("/namespace", "must be a non-empty string")
  return { namespace, input }
}

function bad(path: string, message: string): PondError {
  return new PondError("validation_failed", `Invalid request at ${path || "its top level"}: ${message}.`, {
    details: { faults: [{ path, message }] },
  })
}
