/**
 * Clients that pond knows and has no adapter for. What they are about to delete is said all the same, because nothing else
 * keeps it. An entry has the shape of an adapter, which takes it over as it is; then `unreadClients` leaves it out.
 */
import type { Adapter, Source } from "./adapter.ts"
import type { AgeRetention } from "./capabilities.ts"

export interface UnreadClient {
  readonly id: string
  readonly title: string
  readonly source: Source
  readonly retention: { readonly of: (root: string) => AgeRetention | undefined }
}

/** None today: each client that deletes sessions has an adapter. */
const WATCHED: readonly UnreadClient[] = []

/** Those of them that none of the given adapters reads. */
export function unreadClients(adapters: readonly Pick<Adapter, "id">[]): UnreadClient[] {
  const read = new Set(adapters.map(({ id }) => id))
  return WATCHED.filter(({ id }) => !read.has(id))
}
