/**
 * How a run of pond ends on output: the outcome or the failure, for people or as one JSON document. The only file that
 * knows the two shapes `{"protocol_version":1, …}` and `{"error":{code, message, details}}`.
 */
import { PondError, toPondError } from "../../model/errors.ts"
import { visible } from "../../model/visible.ts"
import type { Outcome } from "../verb.ts"
import type { Output } from "./output.ts"

const PROTOCOL_VERSION = 1
const CAUSES_MAX = 10

export function printOutcome(output: Output, { document, render }: Pick<Outcome, "document" | "render">): void {
  output.progress.end()
  if (output.isJson)
    output.streams.out.write(`${JSON.stringify({ protocol_version: PROTOCOL_VERSION, ...document })}\n`)
  else output.streams.out.write(render(output))
}

/** Says what failed, and returns the exit code that goes with it. */
export function printFailure(output: Output, thrown: unknown): number {
  output.progress.end()
  const error = toFailure(thrown)
  const { code, message, details } = error
  if (output.isJson) output.streams.out.write(`${JSON.stringify({ error: { code, message, details } })}\n`)
  else output.streams.err.write(output.errorProse(`${output.errorStyle.red("pond:")} ${visible(message)}\n`))
  for (const line of causesOf(error)) output.log.debug(line)
  return error.row.exit
}

/** citty does not export its class of usage errors; the name is what it promises. */
function toFailure(thrown: unknown): PondError {
  if (thrown instanceof Error && thrown.name === "CLIError") {
    return new PondError("validation_failed", thrown.message, { cause: thrown })
  }
  return toPondError(thrown)
}

function causesOf(error: PondError): string[] {
  const lines: string[] = []
  let cause: unknown = error.cause
  while (cause !== undefined && lines.length < CAUSES_MAX) {
    lines.push(`caused by: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return lines
}
