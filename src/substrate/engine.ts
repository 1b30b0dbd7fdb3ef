/**
 * The one door to the native engine: `@lancedb/lancedb` and `apache-arrow` are loaded here, at the first use and never
 * at import, so that a command that opens no store costs no native library.
 * The Arrow package has two builds (ESM and CommonJS) and the engine knows only objects of the one that it requires
 * itself: another instance falls back to a converter that does not know large text. So both come by `require`.
 */
import type * as Lance from "@lancedb/lancedb"
import type * as Arrow from "apache-arrow"
import { lazy } from "../platform/lazy.ts"

export interface Engine {
  readonly lance: typeof Lance
  readonly arrow: typeof Arrow
}

const arrow = lazy(() => require("apache-arrow") as typeof Arrow)
const lance = lazy(() => require("@lancedb/lancedb") as typeof Lance)

/** A thread that judges columns asks for Arrow alone, and has no native library of its own. */
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
