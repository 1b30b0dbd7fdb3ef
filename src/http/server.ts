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

/** The most that the server knows: an operation that thinks for long sends nothing meanwhile. */
const IDLE_SECONDS = 255
/** Above the cap of a body, so that the cap is ours to say. */
const REQUEST_BYTES_MAX = 64 * 1024 * 1024

export async function listenOnPort(
  fetch: Fetch,
  host: string,
  port: number,
  limits = CONNECTION_LIMITS,
): Promise<HttpServer> {
  const listener = await listenWithClock(fetch, host, port, limits)
  return {
    address: `http://${host.includes(":") ? `[${host}]` : host}:${listener.port}`,
    stop: listener.stop,
  }
}

export async function listenOnSocket(fetch: Fetch, path: string): Promise<HttpServer> {
  await removeDeadSocket(path)
  const running = createRunning(fetch)
  const before = process.umask(0o177)
  try {
    const server = Bun.serve({
      unix: path,
      fetch: running.fetch,
      maxRequestBodySize: REQUEST_BYTES_MAX,
      // Read for sockets as for ports, which its type does not know. Without it a request that takes ten seconds is cut.
      ...({ idleTimeout: IDLE_SECONDS } as object),
    })
    chmodSync(path, 0o600)
    return {
      address: path,
      stop: async () => {
        await stopGently(server, running)
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

interface Running {
  readonly fetch: Fetch
  /** Resolves when no request runs. */
  idle(): Promise<void>
}

/** Bun's own stop waits for connections, and a client keeps those open for minutes. What matters is requests. */
function createRunning(answer: Fetch): Running {
  let active = 0
  const waiting: (() => void)[] = []
  return {
    fetch: async (request) => {
      active++
      try {
        return await answer(request)
      } finally {
        active--
        if (active === 0) for (const done of waiting.splice(0)) done()
      }
    },
    idle: () => (active === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}

async function stopGently(server: { stop(isForced?: boolean): Promise<void> }, running: Running): Promise<void> {
  const stopping = server.stop()
  await running.idle()
  // Until the next turn the last answer is still on its way out.
  await Bun.sleep(0)
  await server.stop(true)
  await stopping
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
