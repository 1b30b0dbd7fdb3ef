/**
 * Client of a `pond serve` or `pond mcp` of the same version, over the same store with the same settings: an operation runs
 * there, over a Unix socket that only its owner may use, and this process neither opens the store nor loads the engine
 * (a search of 1,000 sessions: 25 ms of processor time, 203 ms alone). Whatever fails on the way, this process works alone.
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
import { HEALTH_PATH, methodOf, routePath } from "./route.ts"

/** A live process answers in a millisecond; one that does not is not waited for. */
const GREETING_MS = 500
/** The longest socket path that every system allows. */
const PATH_BYTES_MAX = 100

/** Processes of agents share one socket, and leave that of `pond serve` alone. */
export type Holder = "serve" | "mcp"

/** Where a store is and which of its namespaces is meant are said otherwise. */
const NOT_OF_ANSWERS = ["store", "namespace"]

/**
 * The socket of the process that serves a store. Its name holds all that an answer depends on besides the request: a command
 * with other settings, or one started after the config file changed, finds nobody there and works alone. Undefined if the
 * path would be too long.
 */
export function rendezvousPath(host: Host, store: string, holder: Holder = "serve"): string | undefined {
  const settings = host.settings().effective.filter(({ key }) => !NOT_OF_ANSWERS.includes(key))
  const parts = [store, VERSION, host.environment["TZ"], settings.map(({ key, shown }) => [key, shown])]
  const name = sha256Of(JSON.stringify(parts)).slice(0, 16)
  const path = join(host.path("state"), "serve", holder === "serve" ? `${name}.sock` : `${name}-mcp.sock`)
  return Buffer.byteLength(path) > PATH_BYTES_MAX ? undefined : path
}

export interface RemoteOptions {
  readonly host: Host
  /** In the order in which they are tried. */
  readonly sockets: readonly string[]
  readonly namespace: () => string
}

export function createRemote({ host, sockets, namespace }: RemoteOptions): Remote {
  return async (operation, input, signal) => {
    const socket = await firstUsable(host, sockets)
    if (socket === undefined) return undefined
    try {
      const answer = await call({ socket, operation, namespace: namespace(), input, signal })
      host.log.debug(`The running server of this store answered ${operation.name}.`)
      return { value: answer }
    } catch (error) {
      if (error instanceof PondError || signal.aborted) throw error
      host.log.debug("Not using the running server: it has stopped.")
      return undefined
    }
  }
}

async function firstUsable(host: Host, sockets: readonly string[]): Promise<string | undefined> {
  for (const socket of sockets) {
    const reason = await reasonToWorkAlone(socket)
    if (reason === undefined) return socket
    if (reason !== NOT_SERVED) host.log.debug(`Not using the running server: ${reason}.`)
  }
  return undefined
}

const NOT_SERVED = "nobody serves"

/** Why the socket is not used; undefined if it is. */
async function reasonToWorkAlone(socket: string): Promise<string | undefined> {
  const found = statSocket(socket)
  if (typeof found === "string") return found
  const isOurs = found.isSocket() && found.uid === (process.getuid?.() ?? found.uid)
  if (!isOurs) return "the socket path is not a socket of this user"
  try {
    const response = await fetch(`http://localhost${HEALTH_PATH}`, {
      unix: socket,
      signal: AbortSignal.timeout(GREETING_MS),
    })
    const { version } = (await response.json()) as { readonly version?: unknown }
    return version === VERSION ? undefined : `it is another version (${String(version)})`
  } catch (error) {
    const isSlow = error instanceof Error && error.name === "TimeoutError"
    return isSlow ? `it did not answer within ${GREETING_MS} ms` : "the socket is dead"
  }
}

/** The file at the socket's path, or why it cannot be examined: its directory may belong to another user. */
function statSocket(socket: string): Stats | string {
  try {
    return lstatSync(socket, { throwIfNoEntry: false }) ?? NOT_SERVED
  } catch (error) {
    return `the socket's path cannot be examined (${errorCode(error) ?? "unknown"})`
  }
}

interface RemoteCall {
  readonly socket: string
  readonly operation: Parameters<Remote>[0]
  readonly namespace: string
  readonly input: unknown
  readonly signal: AbortSignal
}

/** Throws a `PondError` if the other process answered with one. Any other error is the connection's. */
async function call({ socket, operation, namespace, input, signal }: RemoteCall): Promise<unknown> {
  const method = methodOf(operation)
  const url = new URL(routePath(operation), "http://localhost")
  if (method === "GET") url.searchParams.set("namespace", namespace)
  const response = await fetch(url, {
    unix: socket,
    signal,
    method,
    headers: { "content-type": "application/json" },
    ...(method === "GET"
      ? {}
      : { body: JSON.stringify({ protocol_version: PROTOCOL_VERSION, namespace, ...(input as object) }) }),
  })
  const parsed = parseOwnJson(await response.text())
  if (!parsed.ok) throw new TypeError("the answer is not JSON")
  const { error, protocol_version: _, ...answer } = parsed.value as Record<string, unknown>
  if (response.ok) return answer
  throw errorOf(error)
}

function errorOf(said: unknown): Error {
  const { code, message, details } = (said ?? {}) as Record<string, unknown>
  if (typeof code !== "string" || !Object.hasOwn(ERROR_TABLE, code))
    return new TypeError("the answer is not an error of pond")
  return new PondError(code as ErrorCode, String(message), { details: details as Record<string, unknown> })
}
