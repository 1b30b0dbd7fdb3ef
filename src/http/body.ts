/** The body of a request: JSON of a bounded size, read within a bounded time. */
import { PondError } from "../model/errors.ts"
import { parseJson } from "../model/json.ts"

export interface BodyLimits {
  readonly bytesMax: number
  readonly timeoutMs: number
}

export const BODY_LIMITS: BodyLimits = { bytesMax: 8 * 1024 * 1024, timeoutMs: 30_000 }

export async function readJsonBody(request: Request, limits: BodyLimits): Promise<unknown> {
  const text = utf8Of(await readBytes(request, limits))
  const parsed = text === undefined ? undefined : parseJson(text)
  if (parsed?.ok === true) return parsed.value
  const reason = parsed === undefined ? "no UTF-8" : parsed.reason
  throw new PondError("validation_failed", `The body is not valid JSON: ${reason}.`, {
    details: { faults: [{ path: "", message: "must be JSON in UTF-8" }] },
  })
}

function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The bytes of a body, bounded in size; parsed elsewhere. */
export async function readBytes(
  request: Request,
  { bytesMax, timeoutMs }: BodyLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const stated = Number(request.headers.get("content-length") ?? "0")
  if (stated > bytesMax) throw tooLarge(bytesMax)
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(tooSlow(timeoutMs)), timeoutMs)
  const reader = request.body.getReader()
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late.promise])
      if (done) return Buffer.concat(chunks, size)
      size += value.byteLength
      if (size > bytesMax) throw tooLarge(bytesMax)
      chunks.push(value)
    }
  } catch (error) {
    throw request.signal.aborted ? gone(error) : error
  } finally {
    clearTimeout(timer)
    late.promise.catch(() => undefined)
    reader.cancel().catch(() => undefined)
  }
}

/** With 64 clients that were killed at once, the log said 34 times that pond had failed. */
function gone(cause: unknown): PondError {
  return new PondError("interrupted", "The client closed the connection.", { cause })
}

function tooLarge(bytesMax: number): PondError {
  return new PondError("validation_failed", `The body is larger than ${bytesMax} bytes. Send it in smaller batches.`, {
    details: { bytes_max: bytesMax },
  })
}

function tooSlow(timeoutMs: number): PondError {
  return new PondError("validation_failed", `The body did not arrive within ${timeoutMs / 1000} s.`, {
    details: { timeout_ms: timeoutMs },
  })
}
