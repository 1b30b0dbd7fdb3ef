/**
 * Storage URLs: what a user writes, what the engine opens, and which credentials it is given. Credentials live in
 * `storageOptions` alone; `shown` is what messages and logs say.
 */
import { isAbsolute, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { PondError } from "../model/errors.ts"
import type { Environment } from "../platform/environment.ts"

export type Backend = "local" | "s3" | "gs" | "az"

export interface Location {
  readonly backend: Backend
  /** What messages say: the URL as it was given, without credentials. */
  readonly shown: string
  /** What the engine opens: a path, or a URL of its own scheme. */
  readonly uri: string
  readonly storageOptions: Readonly<Record<string, string>>
}

export interface LocationSources {
  readonly environment: Environment
  /** Credentials and settings from the configuration, by URL prefix. The longest prefix wins, and wins over the environment. */
  readonly configured?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export function parseLocation(url: string, _sources: LocationSources): Location {
  if (url.startsWith("file://")) return local(fileURLToPath(url))
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return local(isAbsolute(url) ? url : resolve(url))
  throw new PondError(
    "validation_failed",
    "pond does not know this kind of storage URL. Use a path, file://, s3://, s3+https://, gs:// or az://.",
  )
}

function local(path: string): Location {
  return { backend: "local", shown: path, uri: path, storageOptions: {} }
}

/** The place of that name inside another. The name is one of ours: it has no separator. */
export function within(location: Location, folder: string): Location {
  const at = (base: string) =>
    location.backend === "local" ? join(base, folder) : `${base.replace(/\/+$/, "")}/${folder}`
  return { ...location, shown: at(location.shown), uri: at(location.uri) }
}
