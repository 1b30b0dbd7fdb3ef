/**
 * Listening on a port or a socket. `node:http` hands over each connection as it opens, which `Bun.serve` does not: there only the parser's own timer ended a client that sends its headers a byte at a time, after 12 s, and nothing
 * bounded how many do. It costs 0.03 ms of processor time a request more (20 and 51 µs for a small answer).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { PondError } from "../model/errors.ts"
import { errorCode } from "../platform/system-error.ts"
import type { Fetch } from "./access.ts"

export interface ConnectionLimits {
  /** From the opening of a connection, or the end of its last answer, to the last byte of the next headers. */
  readonly headersMs: number
  /** Connections that have asked nothing yet. One more closes the one that waits longest. */
  readonly waitingMax: number
}

/** Clients that keep a connection open reuse it within seconds. */
export const CONNECTION_LIMITS: ConnectionLimits = { headersMs: 10_000, waitingMax: 500 }

/** A port, 0 for any that is free, or the path of a socket. */
export type Place = { readonly host: string; readonly port: number } | { readonly path: string }

export interface PortListener {
  /** 0 on a socket. */
  readonly port: number
  /** Takes no new connection, waits for the last byte of every answer that is due, and ends the connections. */
  stop(): Promise<void>
}

export async function listenWithClock(fetch: Fetch, place: Place, limits: ConnectionLimits): Promise<PortListener> {
  const clock = createHeaderClock(limits)
  const due = new Set<Promise<void>>()
  // The parser's own limits stay off, so that there is one clock.
  const server = createServer({ headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 }, (incoming, outgoing) => {
    clock.arrived(incoming.socket)
    const { promise, resolve } = Promise.withResolvers<void>()
    due.add(promise)
    outgoing.once("close", () => {
      clock.wait(incoming.socket)
      due.delete(promise)
      resolve()
    })
    void serveRequest(fetch, incoming, outgoing)
  })
  server.on("connection", (socket) => {
    clock.wait(socket)
    socket.once("close", () => clock.arrived(socket))
  })
  await listening(server, place)
  const closed = Promise.withResolvers<void>()
  return {
    port: "path" in place ? 0 : (server.address() as AddressInfo).port,
    stop: async () => {
      server.close(() => closed.resolve())
      await Promise.all(due)
      clock.stop()
      server.closeAllConnections()
      await closed.promise
    },
  }
}

function listening(server: Server, place: Place): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once("error", (cause) => reject(notListening(place, cause)))
  server.listen(place, resolve)
  return promise
}

function notListening(place: Place, cause: unknown): PondError {
  if ("path" in place) {
    const message = `Cannot listen on ${place.path} (${errorCode(cause) ?? "unknown"}). Choose another --socket.`
    return new PondError("storage_unavailable", message, { details: { socket: place.path }, cause })
  }
  const { host, port } = place
  const isTaken = errorCode(cause) === "EADDRINUSE"
  const message = isTaken
    ? `Cannot listen on ${host}:${port}: the port is in use. Stop the other program, or choose another --port.`
    : `Cannot listen on ${host}:${port} (${errorCode(cause) ?? "unknown"}). Choose another --host or --port.`
  return new PondError("storage_unavailable", message, { details: { host, port }, cause })
}

// --- The clock -------------------------------------------------------------------------------------------------------

/** Holds the connections from which headers are due, the longest waiting first. */
function createHeaderClock({ headersMs, waitingMax }: ConnectionLimits) {
  const waiting = new Map<Socket, Timer>()
  const arrived = (socket: Socket) => {
    clearTimeout(waiting.get(socket))
    waiting.delete(socket)
  }
  const drop = (socket: Socket) => {
    arrived(socket)
    socket.destroy()
  }
  return {
    arrived,
    wait: (socket: Socket) => {
      arrived(socket)
      if (socket.destroyed) return
      waiting.set(
        socket,
        setTimeout(() => drop(socket), headersMs),
      )
      const [longest] = waiting.keys()
      if (waiting.size > waitingMax && longest !== undefined) drop(longest)
    },
    stop: () => {
      for (const socket of waiting.keys()) drop(socket)
    },
  }
}

// --- Requests and answers --------------------------------------------------------------------------------------------

async function serveRequest(fetch: Fetch, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const left = new AbortController()
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) left.abort()
  })
  try {
    const request = toRequest(incoming, left.signal)
    const response = request === undefined ? new Response(null, { status: 400 }) : await fetch(request)
    await send(response, incoming, outgoing, left.signal)
  } catch {
    // Whoever asked is gone: what fails in pond itself is an answer already.
    outgoing.destroy()
  }
}

/** The address has our own name whatever was asked: which host the request is for is told by its header alone. */
function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = "GET", url = "", rawHeaders } = incoming
  if (!url.startsWith("/")) return undefined
  try {
    const headers = new Headers()
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "")
    const hasBody = headers.has("content-length") || headers.has("transfer-encoding")
    const body = hasBody && method !== "GET" && method !== "HEAD" ? bodyOf(incoming) : null
    return new Request(`http://localhost${url}`, { method, headers, body, signal })
  } catch {
    return undefined
  }
}

/** Cancelling it reads no further and leaves the connection open, so that the reason can still be answered. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isOver = false
  const over = (tell: () => void) => () => {
    if (isOver) return
    isOver = true
    tell()
  }
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      incoming.on("data", (piece: Uint8Array) => {
        if (isOver) return
        controller.enqueue(piece)
        if ((controller.desiredSize ?? 0) <= 0) incoming.pause()
      })
      incoming.once(
        "end",
        over(() => controller.close()),
      )
      const fail = over(() => controller.error(new Error("The connection ended inside of a body.")))
      incoming.once("error", fail)
      incoming.once("close", fail)
    },
    pull: () => void incoming.resume(),
    cancel: () => {
      isOver = true
      incoming.pause()
    },
  })
}

/** A body that nobody read to its end is in the way of the next request, so the connection ends with the answer. */
async function send(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  left: AbortSignal,
): Promise<void> {
  const { status, headers, body } = response
  for (const [name, value] of headers) outgoing.setHeader(name, value)
  const isUnread = !incoming.complete
  if (isUnread) outgoing.setHeader("connection", "close")
  outgoing.statusCode = status
  if (body === null) outgoing.end()
  else if (headers.get("content-type")?.startsWith("application/json")) {
    const bytes = new Uint8Array(await response.arrayBuffer())
    outgoing.setHeader("content-length", bytes.length)
    outgoing.end(bytes)
  } else await pipe(body, outgoing, left)
}

async function pipe(body: ReadableStream<Uint8Array>, outgoing: ServerResponse, left: AbortSignal): Promise<void> {
  const reader = body.getReader()
  const leave = () => void reader.cancel().catch(() => undefined)
  left.addEventListener("abort", leave, { once: true })
  for (;;) {
    const { done, value } = await reader.read()
    if (done || left.aborted) break
    if (outgoing.write(value)) continue
    const { promise, resolve } = Promise.withResolvers<void>()
    outgoing.once("drain", resolve)
    left.addEventListener("abort", () => resolve(), { once: true })
    await promise
  }
  outgoing.end()
}
