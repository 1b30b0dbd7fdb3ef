/**
 * The other process: where a `pond serve` of the same version serves the same store, it is asked, over a socket that its
 * owner alone may use, and the store is not opened here. Whatever is wrong with it, this process works alone.
 */
import { lstatSync, type Stats } from "node:fs"
import { join } from "node:path"
import { ERROR_TABLE, type ErrorCode, PondError } from "../model/errors.ts"
import { parseOwnJson } from "../model/json.ts"
import { PROTOCOL_VERSION } from "../operations/envelope.ts"
import type { Remote } from "../operations/pond.ts"
import type { Host } from "../platform/host/host.ts"
import { VERSION } from "../platform/host/version.ts"
import { sha256Of } from "../platform/sha256.ts"
import { errorCode } from "../platform/system-error.ts"

/** A process that is alive answers this in a millisecond. One that does not is not waited for. */
const GREETING_MS = 500
/** What the name of a socket may have on every system. */
const PATH_BYTES_MAX = 100

/** Where the process that serves a store is met. Nothing where no socket can have that name. */
export function rendezvousPath(host: Host, store: string): string | undefined {
  const name = sha256Of(store).slice(0, 16)
  const path = join(host.path("state"), "serve", `${name}.sock`)
  return Buffer.byteLength(path) > PATH_BYTES_MAX ? undefined : path
}

export interface RemoteOptions {
  readonly host: Host
  readonly socket: string
  readonly namespace: () => string
}

export function createRemote({ host, socket, namespace }: RemoteOptions): Remote {
  return async (operation, input, signal) => {
    const why = await reasonToWorkAlone(socket)
    if (why !== undefined) {
      if (why !== NOT_SERVED) host.log.debug(`pond works alone: ${why}.`)
      return undefined
    }
    try {
      const answer = await post({ socket, path: `/v1/${operation}`, signal, body: requestOf(namespace(), input) })
      host.log.debug(`The pond that serves this store answered ${operation}.`)
      return { value: answer }
    } catch (error) {
      if (error instanceof PondError || signal.aborted) throw error
      host.log.debug("pond works alone: the pond that serves this store went away.")
      return undefined
    }
  }
}

const NOT_SERVED = "nobody serves"

/** Why the socket is not used; nothing where it is. */
async function reasonToWorkAlone(socket: string): Promise<string | undefined> {
  const found = statSocket(socket)
  if (typeof found === "string") return found
  const isOurs = found.isSocket() && found.uid === (process.getuid?.() ?? found.uid)
  if (!isOurs) return "what lies at the place of the socket is not this user's socket"
  try {
    const response = await fetch("http://localhost/healthz", {
      unix: socket,
      signal: AbortSignal.timeout(GREETING_MS),
    })
    const { version } = (await response.json()) as { readonly version?: unknown }
    return version === VERSION
      ? undefined
      : `the pond that serves this store is of another version (${String(version)})`
  } catch (error) {
    const isSlow = error instanceof Error && error.name === "TimeoutError"
    return isSlow ? `the pond that serves this store did not answer in ${GREETING_MS} ms` : "the socket is dead"
  }
}

/** What lies at the place of the socket, or why nothing of it can be told: its folder may be another user's. */
function statSocket(socket: string): Stats | string {
  try {
    return lstatSync(socket, { throwIfNoEntry: false }) ?? NOT_SERVED
  } catch (error) {
    return `the place of the socket cannot be looked at (${errorCode(error) ?? "unknown"})`
  }
}

function requestOf(namespace: string, input: unknown): string {
  return JSON.stringify({ protocol_version: PROTOCOL_VERSION, namespace, ...(input as object) })
}

interface RemoteRequest {
  readonly socket: string
  readonly path: string
  readonly signal: AbortSignal
  readonly body: string
}

/** A `PondError` where the other process said one; anything else that is thrown is the way there. */
async function post({ socket, path, signal, body }: RemoteRequest): Promise<unknown> {
  const isRead = path === "/v1/status"
  const response = await fetch(`http://localhost${path}`, {
    unix: socket,
    signal,
    ...(isRead ? {} : { method: "POST", body, headers: { "content-type": "application/json" } }),
  })
  const parsed = parseOwnJson(await response.text())
  if (!parsed.ok) throw new TypeError("the answer is no JSON")
  const { error, protocol_version: _, ...answer } = parsed.value as Record<string, unknown>
  if (response.ok) return answer
  throw errorOf(error)
}

function errorOf(said: unknown): Error {
  const { code, message, details } = (said ?? {}) as Record<string, unknown>
  if (typeof code !== "string" || !Object.hasOwn(ERROR_TABLE, code))
    return new TypeError("the answer is no error of ours")
  return new PondError(code as ErrorCode, String(message), { details: details as Record<string, unknown> })
}
