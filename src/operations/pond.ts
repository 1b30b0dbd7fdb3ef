/**
 * What every operation stands on. `src/pond.ts` builds it; a service is made when an operation first asks for it, and
 * closed with the pond. Operations know this interface and no transport.
 *
 * To add a service: a method here that returns (a promise of) it, and its making in `src/pond.ts`, wrapped in `lazy`.
 */
import type { TSchema } from "typebox"
import type { Embedder } from "../embeddings/embedder.ts"
import type { Host } from "../platform/host/host.ts"
import type { Sessions } from "../sessions/store.ts"
import type { Namespaces } from "../substrate/namespaces.ts"

export interface Pond {
  readonly host: Host
  /** The sessions of the store and namespace that this pond is of. Nothing is read or made before it is used. */
  sessions(): Promise<Sessions>
  /** What turns text into vectors; nothing where no model is configured. Closed with the pond. */
  embedder(): Promise<Embedder | undefined>
  /** Which namespace of its store this pond is of. */
  namespace(): string
  /** The sessions of another store, by its URL, in the namespace of this name; closed with the pond. */
  sessionsAt(url: string): Promise<Sessions>
  /** Which store this is, for whatever is kept about it outside it. Opens nothing. */
  storeName(): string
  /** Which namespaces the store has, whichever of them this pond is of. */
  namespaces(): Promise<Namespaces>
  /** The pond of another namespace of the same store; `namespace_unknown` where it was never made (`wire-namespace-resolution`). */
  within(namespace: string | undefined): Promise<Pond>
  /** Asks the process that serves this store, where there is one. Absent where this process is the one that serves. */
  readonly remote?: Remote
  /** The other surfaces, for the verbs that start them. They are no concern of any operation. */
  readonly surfaces: Surfaces
  /** Closes what was opened. Safe to call twice. */
  close(): Promise<void>
}

/** Nothing where nobody serves: then the operation runs here. */
export type Remote = (
  operation: { readonly name: string; readonly input: TSchema; readonly read: boolean },
  input: unknown,
  signal: AbortSignal,
) => Promise<{ readonly value: unknown } | undefined>

export interface Surfaces {
  /** HTTP, and MCP beside it. */
  listen(request: ListenRequest): Promise<Listening>
  /** The server of this store that listens on this port of the machine already, with the token it takes. */
  findServer(port: number): Promise<{ readonly address: string; readonly token: string } | undefined>
  /** MCP over stdin and stdout, until the client goes away or the signal comes. */
  speakMcp(signal: AbortSignal): Promise<void>
}

export interface ListenRequest {
  readonly at: { readonly host: string; readonly port: number } | { readonly socket: string }
  /** Host names to answer to, besides this machine's own. */
  readonly allowedHosts: readonly string[]
  /** Whether a port answers only requests with the token. A socket, which is its owner's alone, asks for none. */
  readonly isTokenRequired: boolean
  /** Whether the page at `/` is served. */
  readonly hasPage: boolean
}

export interface Listening {
  readonly address: string
  /** What requests must carry, and the file where it is kept. */
  readonly token?: { readonly value: string; readonly path: string; readonly isNew: boolean }
  /** Takes no new request, and waits for those that run. */
  stop(): Promise<void>
}
