/**
 * The socket on which a process that stays (`pond serve`, `pond mcp`) answers the commands of its user that end at once
 * (`remote.ts` asks there). One process per store holds it. A convenience: where it cannot be had, everybody works alone.
 */
import { dirname } from "node:path"
import type { Host } from "../platform/host/host.ts"
import { ensureWritable } from "../platform/host/paths.ts"
import { lazy } from "../platform/lazy.ts"
import type { Fetch } from "./access.ts"
import { HEALTH_PATH, healthAnswer } from "./route.ts"
import type { HttpServer } from "./server.ts"
import { listenOnSocket } from "./socket-listener.ts"

export interface Rendezvous {
  /** Whether this process is the one that is asked. */
  isHeld(): boolean
  /** Holds the socket where no live process does. To be asked again: the process that holds it may end. */
  take(): Promise<void>
  stop(): Promise<void>
}

export interface RendezvousPlace {
  readonly host: Host
  readonly path: string | undefined
  /** Is told once why the socket cannot be had. */
  readonly log: (line: string) => void
}

/** `makeFetch` is asked at the first request: an agent's process that no command asks loads no server. */
export function createRendezvous({ host, path, log }: RendezvousPlace, makeFetch: () => Promise<Fetch>): Rendezvous {
  let server: HttpServer | undefined
  let [isTaking, isToldWhy] = [false, false]
  const answer = lazy(makeFetch)
  const respond: Fetch = async (request) =>
    // Whoever greets waits half a second only, and the server takes a part of that to load.
    new URL(request.url).pathname === HEALTH_PATH ? healthAnswer() : await (await answer())(request)
  const take = async () => {
    if (path === undefined || server !== undefined || isTaking) return
    isTaking = true
    try {
      ensureWritable(dirname(path))
      server = await listenOnSocket(respond, path)
      host.log.debug("Answering other pond processes of this store.")
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      if (!isToldWhy) log(`Other pond processes cannot use this server: ${why}`)
      isToldWhy = true
    } finally {
      isTaking = false
    }
  }
  return {
    isHeld: () => server !== undefined,
    take,
    stop: async () => {
      await server?.stop()
      server = undefined
    },
  }
}
