/** opencode, from the JSON trees of 2025 to the database of version 1.18: the four faces of its adapter, each in files of its own. */
import { basename, dirname, join } from "node:path"
import { systemClock } from "../../platform/host/clock.ts"
import type { Adapter, ResumeCommand, SessionLocation } from "../adapter.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { context, contextOfPieces } from "./context.ts"
import { foreign } from "./foreign.ts"
import { native, repoint } from "./native.ts"
import { parse } from "./parse.ts"
import { registration } from "./registration.ts"
import { SCHEMA, VERSION } from "./schema.ts"
import { ID } from "./session-start.ts"
import { concerns, createSource, isDiverted, lastModel } from "./source.ts"
import { opencodeVocabulary } from "./vocabulary.ts"

const { source, rows } = createSource(systemClock)

export const opencode: Adapter = {
  id: ID,
  title: "opencode",
  judged: { by: "client", from: "0.1.0", to: VERSION },
  source,
  parse,
  context,
  serialize: {
    native,
    foreign,
    resume: (sessionId, cwd, location = {}) => ({
      ...environmentOf(location),
      command: ["opencode", "--session", sessionId],
      cwd,
    }),
  },
  vocabulary: opencodeVocabulary,
  models: {
    recordedAt: [
      { role: "assistant", path: ["data", "modelID"] },
      { role: "assistant", path: ["modelID"] },
    ],
    lastUsed: lastModel,
  },
  database: { schema: SCHEMA, rows, contextOfPieces },
  relocation: { repoint, isDiverted },
  watching: { concerns },
  registration,
}

/** A database it takes from anywhere; of the files of its first months it only knows the folder of its own name. */
function environmentOf({ relativePath = "", root }: SessionLocation): Pick<ResumeCommand, "environment" | "note"> {
  if (root === undefined) return {}
  if (relativePath.endsWith(".db")) return { environment: { OPENCODE_DB: join(root, relativePath) } }
  return basename(root) === "opencode" ? inOtherHome("opencode", { XDG_DATA_HOME: dirname(root) }) : {}
}
