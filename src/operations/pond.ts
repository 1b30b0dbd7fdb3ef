/**
 * What every operation stands on. `src/pond.ts` builds it; a service is made when an operation first asks for it, and
 * closed with the pond. Operations know this interface and no transport.
 *
 * To add a service: a method here that returns (a promise of) it, and its making in `src/pond.ts`, wrapped in `lazy`.
 */
import type { Host } from "../platform/host.ts"
import type { Sessions } from "../sessions/store.ts"

export interface Pond {
  readonly host: Host
  /** The sessions of the store and namespace that this pond is of. Nothing is read or made before it is used. */
  sessions(): Promise<Sessions>
  /** Which store this is, for whatever is kept about it outside it. Opens nothing. */
  storeName(): string
  /** The pond of another namespace of the same store; `namespace_unknown` where it was never made (`wire-namespace-resolution`). */
  within(namespace: string | undefined): Promise<Pond>
  /** Closes what was opened. Safe to call twice. */
  close(): Promise<void>
}
