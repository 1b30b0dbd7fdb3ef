/**
 * Storage URLs: what a user writes, what the engine opens, and which credentials it is given. A location that is printed
 * or logged by mistake shows no credential: they are behind a call.
 */
import { isAbsolute, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { PondError } from "../model/errors.ts"
import type { Environment } from "../platform/host/environment.ts"
import { type Settings, storageOptions } from "./storage-options.ts"

export type Backend = "local" | "s3" | "gs" | "az"

export interface Location {
  readonly backend: Backend
  /** What messages say: the URL as it was given. It cannot hold credentials. */
  readonly shown: string
  /** What the engine opens: a path, or a URL in its scheme. */
  readonly uri: string
  /** What the engine needs to know beside the URL, credentials included. */
  readonly storageOptions: () => Readonly<Record<string, string>>
}

export interface LocationSources {
  readonly environment: Environment
  /** Settings from the configuration, by URL. The longest URL that begins the store's counts, before the environment. */
  readonly configured?: Readonly<Record<string, Settings>> | undefined
}

const SCHEMES: Readonly<Record<string, Exclude<Backend, "local">>> = {
  "s3:": "s3",
  "s3+https:": "s3",
  "s3+http:": "s3",
  "gs:": "gs",
  "az:": "az",
}

const KNOWN = "a path, file://, s3://, s3+https://, gs:// or az://"

export function parseLocation(url: string, sources: LocationSources): Location {
  if (url === "" || url.includes("\0")) throw unusable("it is empty or contains a NUL")
  if (url.startsWith("file:")) return local(filePath(url))
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return local(isAbsolute(url) ? url : resolve(url))
  const parsed = URL.parse(url)
  const backend = parsed === null ? undefined : SCHEMES[parsed.protocol]
  if (parsed === null || backend === undefined) throw unusable(`supported: ${KNOWN}`)
  if (parsed.username !== "" || parsed.password !== "") {
    throw unusable("it must not contain credentials: set them in the environment or the config file")
  }
  if (parsed.search !== "" || parsed.hash !== "") throw unusable("it ends in ? or #")
  return remote(parsed, backend, sources)
}

function remote(url: URL, backend: Exclude<Backend, "local">, { environment, configured }: LocationSources): Location {
  const isOwnServer = url.protocol.startsWith("s3+")
  const path = url.pathname.split("/").filter((part) => part !== "")
  const [bucket, ...prefix] = isOwnServer ? path : [url.host, ...path]
  if (bucket === undefined || bucket === "") throw unusable("it has no bucket")
  if ([bucket, ...prefix].some((part) => /^(?:\.|%2e){1,2}$/i.test(part)))
    throw unusable("a part of its path is . or ..")
  const shown = `${url.protocol}//${isOwnServer ? `${url.host}/` : ""}${[bucket, ...prefix].join("/")}`
  const endpoint = isOwnServer ? `${url.protocol.slice("s3+".length)}//${url.host}` : undefined
  const settings = { ...settingsFor(shown, configured), ...(endpoint === undefined ? {} : { endpoint }) }
  return {
    backend,
    shown,
    uri: `${backend}://${[bucket, ...prefix].join("/")}`,
    storageOptions: () => storageOptions(backend, settings, environment),
  }
}

function settingsFor(url: string, configured: LocationSources["configured"]): Settings {
  const begins = Object.entries(configured ?? {})
    .map(([prefix, settings]) => ({ prefix: prefix.replace(/\/+$/, ""), settings }))
    .filter(({ prefix }) => url === prefix || url.startsWith(`${prefix}/`))
    .toSorted((one, other) => other.prefix.length - one.prefix.length)
  return begins[0]?.settings ?? {}
}

function local(path: string): Location {
  return { backend: "local", shown: path, uri: path, storageOptions: () => ({}) }
}

function filePath(url: string): string {
  try {
    return fileURLToPath(url)
  } catch (cause) {
    throw unusable("a file: URL has three slashes before an absolute path", cause)
  }
}

/** The URL itself is not repeated: what does not parse may hold anything. */
function unusable(why: string, cause?: unknown): PondError {
  return new PondError("validation_failed", `Invalid storage URL: ${why}.`, { cause })
}

/** The location of that name inside another. The name has no separator, because pond chose it. */
export function within(location: Location, folder: string): Location {
  const at = (base: string) =>
    location.backend === "local" ? join(base, folder) : `${base.replace(/\/+$/, "")}/${folder}`
  return { ...location, shown: at(location.shown), uri: at(location.uri) }
}
