/** Hermes Agent, whose sessions are rows of a database since version 0.12 and were snapshots in JSON before. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { parse } from "./parse.ts"
import { BRAND } from "./records.ts"
import { registration } from "./registration.ts"
import { schema } from "./schema.ts"
import { serialize } from "./serialize.ts"
import { rows, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const hermes: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "client", from: "0.19.0", to: "0.19.0", packages: ["hermes-agent"] },
  source,
  parse,
  context,
  serialize,
  output: {
    // The client gives its own, an editor's sessions UUIDs, and a scheduler those of its jobs.
    sessionIds:
      /^(?:\d{8}_\d{6}_[0-9a-f]{6,8}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|cron_[\w-]{1,80}_\d{6,}(?:_\d+)?)$/i,
    relativePaths: [
      // The name of a profile goes onto its command line.
      /^(?:profiles\/\w[\w-]*\/)?state\.db$/,
      /^(?:profiles\/\w[\w-]*\/)?(?:sessions\/)?session_[\w-]+\.json$/,
    ],
  },
  vocabulary,
  usage,
  database: { schema, rows },
  registration,
}
