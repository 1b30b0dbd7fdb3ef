/** opencode, from the JSON trees of 2025 to the database of version 1.18. */
import { systemClock } from "../../platform/host/clock.ts"
import type { Adapter } from "../adapter.ts"
import { context, contextOfPieces } from "./context.ts"
import { parse } from "./parse.ts"
import { registration } from "./registration.ts"
import { SCHEMA, VERSION } from "./schema.ts"
import { repoint, serialize } from "./serialize.ts"
import { ID } from "./session-start.ts"
import { concerns, createSource, isDiverted, lastModel } from "./source.ts"
import { vocabulary } from "./vocabulary.ts"

const { source, rows } = createSource(systemClock)

export const opencode: Adapter = {
  id: ID,
  title: "opencode",
  judged: { by: "client", from: "0.1.0", to: VERSION },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^ses_[\dA-Za-z]{8,40}$/,
    // `storage/permission` lies beside these, where the client keeps what its user allowed.
    relativePaths: [
      /^(?:[\w-]+\/)*opencode(?:-[\w-]+)?\.db$/,
      /^(?:[\w-]+\/)*storage\/(?:project|todo|session_diff|(?:session|message|part)\/[\w-]+)\/[\w-]+\.json$/,
      /^project\/[^/]+\/storage\/session\/(?:info|message\/[\w-]+|part\/[\w-]+\/[\w-]+)\/[\w-]+\.json$/,
      /^(?:[\w-]+\/)*(?:[\w-]+_)?ses_[\dA-Za-z]+\.json$/,
    ],
  },
  vocabulary,
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
