/**
 * Loading of the native libraries: the built executable asks here where a package of the project would `require` its
 * addon (`build/release/embed.ts` rewrites those requires). Each is unpacked and loaded at its first use, never at start.
 * In development nothing asks: the packages find their own addons in `node_modules`.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { PondError } from "../../model/errors.ts"
import { systemClock } from "../host/clock.ts"
import { processEnvironment } from "../host/environment.ts"
import { placePath } from "../host/paths.ts"
import { systemRandom } from "../host/random.ts"
import { isSystemError } from "../system-error.ts"
import { EMBEDDED_NATIVES, type EmbeddedNative, type NativeName } from "./native-assets.ts"
import {
  addonPath,
  inspectNative,
  type NativeCache,
  type NativeState,
  placeNative,
  unpackInMemory,
} from "./native-cache.ts"
import { UNPACK_NATIVE } from "./unpack-argument.ts"

const loaded = new Map<NativeName, unknown>()

/**
 * The exports of an addon. The one caller is code that the build put into a package.
 * @public
 */
export function loadNative(name: NativeName): unknown {
  if (!loaded.has(name)) loaded.set(name, open(name))
  return loaded.get(name)
}

/**
 * To be asked before a package is loaded that holds an addon. One that fails while it is loaded stays half made for as long
 * as the process lives: the second use of it would be a fault that nobody knows, and room that was made would help nobody.
 */
export function ensureNative(name: NativeName): void {
  const native = EMBEDDED_NATIVES[name]
  if (native !== undefined && !native.isWebAssembly) loadNative(name)
}

/**
 * The WebAssembly that stands in for an addon where no addon is to be had. The one caller is code that the build made.
 * @public
 */
export function readWebAssembly(name: NativeName): Uint8Array<ArrayBuffer> {
  return unpackInMemory(nativeCache(), embedded(name).addon)
}

export interface NativeReport {
  readonly name: NativeName
  readonly origin: string
  readonly directory: string
  readonly state: NativeState
}

/** Every library that this executable unpacks, with each byte on disk read and compared. Empty in development. */
export function inspectNatives(): readonly NativeReport[] {
  const cache = nativeCache()
  const unpacked = Object.entries(EMBEDDED_NATIVES).filter(([, native]) => !native.isWebAssembly)
  return unpacked.map(([name, native]) => ({
    name: name as NativeName,
    origin: native.origin,
    directory: join(cache.directory, native.contentHash),
    state: inspectNative(cache, native),
  }))
}

function embedded(name: NativeName): EmbeddedNative {
  const native = EMBEDDED_NATIVES[name]
  if (native === undefined)
    throw new PondError("internal", `This build of pond does not include the native library "${name}".`)
  return native
}

function open(name: NativeName): unknown {
  const [cache, native] = [nativeCache(), embedded(name)]
  if (!existsSync(addonPath(cache, native))) unpackElsewhere(name)
  const path = placeNative(cache, native)
  const target: { exports: unknown } = { exports: {} }
  try {
    process.dlopen(target, path)
  } catch (cause) {
    throw unloadable(path, cause)
  }
  return target.exports
}

/**
 * In a process that ends with it: what is read of the executable to unpack a library stays in the memory of whoever read
 * it, 62 MB of the engine's. A first import of 2 GB held 664 MB, and 566 MB where the engine was unpacked before. Where no
 * process starts or it fails, the library is missing still, and whoever asked unpacks it.
 */
function unpackElsewhere(name: NativeName): void {
  try {
    Bun.spawnSync([process.execPath, UNPACK_NATIVE, name], {
      env: processEnvironment() as Record<string, string>,
      stdio: ["ignore", "ignore", "ignore"],
    })
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

/** What the other process does. */
export function unpackNative(name: string | undefined): void {
  const native = EMBEDDED_NATIVES[name as NativeName]
  if (native !== undefined) placeNative(nativeCache(), native)
}

function nativeCache(): NativeCache {
  return {
    directory: join(placePath(processEnvironment(), "cache"), "native"),
    contentHashes: Object.values(EMBEDDED_NATIVES).map((native) => native.contentHash),
    clock: systemClock,
    random: systemRandom,
    readAsset: (asset) => readFileSync(asset),
  }
}

/** What the loader of each system says, and what helps. The file itself is known to be whole. */
const LOADER_SAYS: readonly (readonly [says: RegExp, helps: string])[] = [
  [
    /failed to map segment|operation not permitted/i,
    "Its file system does not allow running code: set XDG_CACHE_HOME to a directory on another one.",
  ],
  [
    /(lib[\w.+-]+): cannot open shared object file|Error loading shared library (lib[\w.+-]+)/,
    "Install the missing system library.",
  ],
  [/version `?GLIBC/, "This system is older than the library: use the musl build of pond."],
]

function unloadable(path: string, cause: unknown): PondError {
  const said = cause instanceof Error ? cause.message : String(cause)
  const reason = said.startsWith(`${path}: `) ? said.slice(path.length + 2) : said
  const helps = LOADER_SAYS.find(([says]) => says.test(reason))?.[1] ?? "Run `pond doctor` and report the output."
  return new PondError("storage_unavailable", `Cannot load ${path}: ${reason}. ${helps}`, {
    details: { path, reason },
    cause,
  })
}
