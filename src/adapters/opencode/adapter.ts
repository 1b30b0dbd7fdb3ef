/** opencode, from the JSON trees of 2025 to the database of version 1.18: the four faces of its adapter, each in files of its own. */
import { basename, dirname, join } from "node:path"
import { systemClock } from "../../platform/host/clock.ts"
import type { Adapter, ResumeCommand, Whereabouts } from "../adapter.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { context, contextByPieces } from "./context.ts"
import { foreign } from "./foreign.ts"
import { createSurvey, native, repoint } from "./native.ts"
import { parse } from "./parse.ts"
import { registration } from "./registration.ts"
import { VERSION } from "./schema.ts"
import { ID } from "./session-start.ts"
import { createSource } from "./source.ts"

export const opencode: Adapter = {
  id: ID,
  title: "opencode",
  verified: { from: "0.1.0", to: VERSION },
  source: createSource(systemClock),
  parse,
  context,
  contextByPieces,
  serialize: {
    native,
    survey: createSurvey,
    foreign,
    repoint,
    resume: (sessionId, cwd, whereabouts = {}) => ({
      ...toldOf(whereabouts),
      command: ["opencode", "--session", sessionId],
      cwd,
    }),
  },
  modelAt: [
    { role: "assistant", path: ["data", "modelID"] },
    { role: "assistant", path: ["modelID"] },
  ],
  registration,
}

/** A database it takes from anywhere; of the files of its first months it only knows the folder of its own name. */
function toldOf({ relativePath = "", root }: Whereabouts): Pick<ResumeCommand, "environment" | "note"> {
  if (root === undefined) return {}
  if (relativePath.endsWith(".db")) return { environment: { OPENCODE_DB: join(root, relativePath) } }
  return basename(root) === "opencode" ? inOtherHome("opencode", { XDG_DATA_HOME: dirname(root) }) : {}
}
