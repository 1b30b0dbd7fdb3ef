/**
 * Which store lies at a place: one that was removed and made again has the same name and another directory. Of a bucket
 * the store itself is asked. Opens nothing.
 */
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { type LocationSources, parseLocation } from "../../substrate/location.ts"

export const NO_STORE = "none"

/** Nothing where it cannot be told. */
export function storeIdentity(name: string, sources: LocationSources): string | undefined {
  const { backend, uri } = parseLocation(name, sources)
  if (backend !== "local") return undefined
  // What is in the way of a store is for the store to say: here it only means that there is none.
  const place = join(uri, "sessions.lance")
  const stat = existsSync(place) ? statSync(place, { throwIfNoEntry: false }) : undefined
  return stat === undefined ? NO_STORE : `${stat.dev}.${stat.ino}.${stat.birthtimeMs}${generationOf(uri)}`
}

/** A repair may have taken out what a sync remembers to have stored. */
function generationOf(store: string): string {
  const note = join(store, ".pond/generation")
  return existsSync(note) ? `.${readFileSync(note, "utf8")}` : ""
}
