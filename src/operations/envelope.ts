/**
 * The envelope of a request: which protocol it speaks and which namespace it means, beside the fields of its operation.
 * What a surface does with a request begins here and is the same for all of them.
 */
import { type TSchema, Type } from "typebox"
import { PondError } from "../model/errors.ts"
import { type Operation, performValid } from "./operation.ts"
import type { Pond } from "./pond.ts"
import { type Fault, invalidRequest, isRecord } from "./validation.ts"

export const PROTOCOL_VERSION = 1

const NAMESPACE = Type.Optional(
  Type.String({ minLength: 1, description: "The namespace to use (default: the one pond was started with)." }),
)

/** The published shape of a whole request body. One object for each operation: what is published is what checks. */
export const requestSchema = remember(({ input }) =>
  Type.Object(
    {
      protocol_version: Type.Literal(PROTOCOL_VERSION, {
        description: "The protocol version of the request.",
      }),
      namespace: NAMESPACE,
      ...propertiesOf(input),
    },
    { additionalProperties: false },
  ),
)

/** The query of an operation that takes nothing else. */
export const querySchema = remember(({ input }) =>
  Type.Object({ namespace: NAMESPACE, ...propertiesOf(input) }, { additionalProperties: false }),
)

/** The published shape of a whole answer, or of the document that `--json` prints. */
export const responseSchema = remember(({ output }) => {
  const { anyOf } = output as unknown as { anyOf?: readonly TSchema[] }
  return anyOf === undefined ? withVersion(output) : Type.Union(anyOf.map(withVersion))
})

function remember(make: (operation: Operation) => TSchema): (operation: Operation) => TSchema {
  const made = new WeakMap<Operation, TSchema>()
  return (operation) => {
    const known = made.get(operation)
    if (known !== undefined) return known
    const schema = make(operation)
    made.set(operation, schema)
    return schema
  }
}

function propertiesOf(schema: TSchema): Record<string, TSchema> {
  return (schema as unknown as { properties: Record<string, TSchema> }).properties
}

function withVersion(output: TSchema): TSchema {
  return Type.Object(
    { protocol_version: Type.Literal(PROTOCOL_VERSION), ...propertiesOf(output) },
    { additionalProperties: false },
  )
}

/** Why a whole request is refused: what it says of its version comes first, for another version has other fields. */
export function refuseRequest(request: unknown, faults: readonly Fault[]): PondError {
  if (!isRecord(request)) return invalidRequest([{ path: "", message: "must be a JSON object" }])
  const { protocol_version: version } = request
  if (typeof version !== "number" || !Number.isInteger(version)) {
    const message = `must be an integer; this pond supports ${PROTOCOL_VERSION}`
    return invalidRequest([{ path: "/protocol_version", message }])
  }
  if (version === PROTOCOL_VERSION) return invalidRequest(faults)
  return new PondError(
    "version_unsupported",
    `This pond supports protocol version ${PROTOCOL_VERSION}, not ${version}.`,
    { details: { protocol_version: version, supported: [PROTOCOL_VERSION] } },
  )
}

/** Runs what a request of that operation asks for. The request has been checked by `requestSchema`, or `querySchema`. */
export async function performRequest(
  operation: Operation,
  pond: Pond,
  signal: AbortSignal,
  request: object,
): Promise<object> {
  const { protocol_version: _, namespace, ...input } = request as Record<string, unknown>
  const within = await pond.within(namespace as string | undefined)
  const answer = (await performValid(operation, { pond: within, signal }, input)) as object
  return { protocol_version: PROTOCOL_VERSION, ...answer }
}
