/** Listening on a Unix socket that its owner alone may use. */
import { chmodSync, lstatSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { PondError } from "../model/errors.ts"
import type { Fetch } from "./access.ts"
import { CONNECTION_LIMITS, listenWithClock } from "./port-listener.ts"
import type { HttpServer } from "./server.ts"

export async function listenOnSocket(fetch: Fetch, path: string, limits = CONNECTION_LIMITS): Promise<HttpServer> {
  await removeDeadSocket(path)
  const before = process.umask(0o177)
  try {
    const listener = await listenWithClock(fetch, { path }, limits)
    chmodSync(path, 0o600)
    const { ino } = lstatSync(path)
    return {
      address: path,
      stop: async () => {
        await listener.stop()
        // Two processes that find a dead socket at once both listen, and the path is the later one's.
        if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true })
      },
    }
  } finally {
    process.umask(before)
  }
}

/** Removes a socket of this user on which no process answers. Anything else at this path stays, and is an error. */
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
