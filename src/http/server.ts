/** Listening: on a port, on a socket that its owner alone may use, and stopping without dropping what runs. */
import { chmodSync, lstatSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { PondError } from "../model/errors.ts"
import type { Fetch } from "./access.ts"
import { CONNECTION_LIMITS, listenWithClock } from "./port-listener.ts"

export interface HttpServer {
  /** `http://127.0.0.1:9797`, or the path of the socket. */
  readonly address: string
  /** Takes no new request, and waits for those that run. */
  stop(): Promise<void>
}

export async function listenOnPort(
  fetch: Fetch,
  host: string,
  port: number,
  limits = CONNECTION_LIMITS,
): Promise<HttpServer> {
  const listener = await listenWithClock(fetch, { host, port }, limits)
  return {
    address: `http://${host.includes(":") ? `[${host}]` : host}:${listener.port}`,
    stop: listener.stop,
  }
}

export async function listenOnSocket(fetch: Fetch, path: string, limits = CONNECTION_LIMITS): Promise<HttpServer> {
  await removeDeadSocket(path)
  const before = process.umask(0o177)
  try {
    const listener = await listenWithClock(fetch, { path }, limits)
    chmodSync(path, 0o600)
    return {
      address: path,
      stop: async () => {
        await listener.stop()
        rmSync(path, { force: true })
      },
    }
  } finally {
    process.umask(before)
  }
}

/** A socket of this user that nobody answers on is in the way of nobody. Whatever else lies there stays. */
async function removeDeadSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  const details = { socket: path }
  if (!found.isSocket() || found.uid !== (process.getuid?.() ?? found.uid))
    throw new PondError("conflict", `${path} exists and is not a socket of yours. Choose another --socket.`, {
      details,
    })
  if (await isAnswered(path))
    throw new PondError(
      "conflict",
      `Another program is already listening on ${path}. Stop it first, or choose another --socket.`,
      { details },
    )
  rmSync(path, { force: true })
}

/** A process that accepts the connection is alive, whatever it answers. */
async function isAnswered(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(path, () => resolve(true))
  socket.once("error", () => resolve(false))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}
