/**
 * The one door to the native engine: `@lancedb/lancedb` and `apache-arrow` are loaded here, at the first use and never
 * at import, so that a command that opens no store costs no native library.
 * The Arrow package has two builds (ESM and CommonJS) and the engine knows only objects of the one that it requires
 * itself: another instance falls back to a converter that does not know large text. So both come by `require`.
 */
import type * as Lance from "@lancedb/lancedb"
import type * as Arrow from "apache-arrow"
import { lazy } from "../../platform/lazy.ts"
import { limitArenas } from "../../platform/memory.ts"
import { ensureNative } from "../../platform/native/native.ts"
import { keepOffProxies, setNativeVariable } from "../../platform/native/native-environment.ts"

export interface Engine {
  readonly lance: typeof Lance
  readonly arrow: typeof Arrow
}

const arrow = lazy(() => require("apache-arrow") as typeof Arrow)
const lance = lazy(() => {
  limitArenas()
  setNativeVariable("LANCE_DEFAULT_IO_BUFFER_SIZE", String(READ_AHEAD_BYTES))
  keepOffProxies(LOOPBACK)
  ensureNative("lance")
  return require("@lancedb/lancedb") as typeof Lance
})

/**
 * How far a scan reads ahead of its consumer. The engine's own bound is 2 GB: a copy of a million messages held
 * 716 MB where it holds 618 MB so, an export 616 MB and 416 MB, both as fast.
 */
const READ_AHEAD_BYTES = 32 * 1024 * 1024

/** The engine asks a bucket through a server of this process (`bucket/gateway.ts`), which no proxy can reach. */
const LOOPBACK = "127.0.0.1"

/** A thread that judges columns asks for Arrow alone, and loads no native library. */
const ENGINE: Engine = {
  get arrow() {
    return arrow()
  },
  get lance() {
    return lance()
  },
}

export function engine(): Engine {
  return ENGINE
}
