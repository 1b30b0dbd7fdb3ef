/**
 * opencode, and Kilo Code, which is made of it since its version 7: one codec, and what differs. Each calls its program, its
 * folders, its settings and its database by its id.
 */
import type { Judgement, Source } from "../adapter.ts"
import { KILO_NAMES, kiloRoots, type Names, OPENCODE_NAMES, roots } from "./roots.ts"
import { type ClientSchema, createSchema, VERSION } from "./schema.ts"
import { KILO_FORK, KILO_VERSION } from "./schema-kilo.ts"

export interface Brand extends Names {
  readonly title: string
  readonly roots: Source["roots"]
  readonly schema: ClientSchema
  /** Tables of rows that belong to a session beside those that every brand has. */
  readonly besides: readonly BesideTable[]
  /** The first and the newest version that it was judged with. */
  readonly judged: Omit<Judgement, "by">
  /** The agent that every installation works with. */
  readonly agent: string
  /** What a session of another client is known by in it comes out of its id there, and of this. */
  readonly seed: string
}

/** A table whose rows are a session's alone, and are read with its row. */
export interface BesideTable {
  readonly table: string
  /** The column that names the session. */
  readonly by: string
  readonly order: string
  /** What grows when one of its rows changes. */
  readonly changes: string
}

export const OPENCODE: Brand = {
  ...OPENCODE_NAMES,
  title: "opencode",
  roots,
  schema: createSchema(),
  besides: [],
  judged: { from: "0.1.0", to: VERSION, packages: ["opencode-ai", "opencode"] },
  agent: "build",
  seed: "",
}

export const KILO: Brand = {
  ...KILO_NAMES,
  title: "Kilo Code",
  roots: kiloRoots,
  schema: createSchema(KILO_FORK),
  besides: [
    { table: "kilo_board", by: "root_session_id", order: "root_session_id", changes: "time_updated" },
    { table: "kilo_board_message", by: "board_root_session_id", order: "seq", changes: "seq" },
  ],
  judged: { from: KILO_VERSION, to: KILO_VERSION, packages: ["@kilocode/cli"] },
  agent: "code",
  seed: "kilo ",
}
