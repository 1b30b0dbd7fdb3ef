/**
 * Sessions that are copies: pond wrote them into a client from another session. Such a one says `options.pond.copy_of`.
 * A copy of a copy, and whatever was gone on with, is one conversation.
 */
import type { ProviderOptions } from "./session.ts"

/** The key in the stored options of a session, below `pond`. */
export const COPY_OF_JSON = '"copy_of":'

/** The session that this one is a copy of. */
export function copiedFrom(options: ProviderOptions): string | undefined {
  const pond = options["pond"] as { readonly copy_of?: unknown } | undefined
  return typeof pond?.copy_of === "string" ? pond.copy_of : undefined
}
