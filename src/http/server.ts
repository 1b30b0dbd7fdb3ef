/** Listening on a port of this machine. */
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
