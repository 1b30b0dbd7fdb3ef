/**
 * The one door to the native engine: `@lancedb/lancedb` and `apache-arrow` are loaded here, at the first use and never
 * at import, so that a command that opens no store costs no native library.
 * The Arrow package has two builds (ESM and CommonJS) and the engine knows only objects of the one that it requires
 * itself: another instance falls back to a converter that does not know large text. So both come by `require`.
 */
import type * as Lance from "@lancedb/lancedb"
import type * as Arrow from "apache-arrow"

export interface Engine {
  readonly lance: typeof Lance
  readonly arrow: typeof Arrow
}

let loaded: Engine | undefined

export function engine(): Engine {
  if (loaded === undefined) {
    loaded = { arrow: require("apache-arrow") as typeof Arrow, lance: require("@lancedb/lancedb") as typeof Lance }
  }
  return loaded
}
