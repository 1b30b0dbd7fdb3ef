/** opencode, from the JSON trees of 2025 to the database of version 1.18, and Kilo Code, which has its format. */
import { systemClock } from "../../platform/host/clock.ts"
import type { Adapter } from "../adapter.ts"
import { type Brand, KILO, OPENCODE } from "./brands.ts"
import { context, contextOfPieces } from "./context.ts"
import { fileRecord } from "./files.ts"
import { parserOf } from "./parse.ts"
import { registrationOf } from "./registration.ts"
import { repoint, serializerOf } from "./serialize.ts"
import { concerns, createSource, isDiverted, lastModel } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const opencode = adapterOf(OPENCODE)
export const kilo = adapterOf(KILO)

function adapterOf(brand: Brand): Adapter {
  const { source, rows } = createSource(brand, systemClock)
  return {
    id: brand.id,
    title: brand.title,
    judged: { by: "client", ...brand.judged },
    source,
    parse: parserOf(brand),
    context,
    serialize: serializerOf(brand),
    output: {
      // Kilo Code calls a session that it took over from its extension of before `ses_migrated_…`.
      sessionIds: /^ses_(?:migrated_)?[\dA-Za-z]{8,40}$/,
      // Not `storage/permission`, where the client keeps what its user allowed.
      relativePaths: [
        /^(?:[\w-]+\/)*(?:opencode|kilo)(?:-[\w-]+)?\.db$/,
        /^(?:[\w-]+\/)*storage\/(?:project|todo|session_diff|(?:session|message|part)\/[\w-]+)\/[\w-]+\.json$/,
        /^project\/[^/]+\/storage\/session\/(?:info|message\/[\w-]+|part\/[\w-]+\/[\w-]+)\/[\w-]+\.json$/,
        /^(?:[\w-]+\/)*(?:[\w-]+_)?ses_(?:migrated_)?[\dA-Za-z]+\.json$/,
      ],
    },
    vocabulary,
    models: {
      recordedAt: [
        { role: "assistant", path: ["data", "modelID"] },
        { role: "assistant", path: ["modelID"] },
      ],
      lastUsed: (root) => lastModel(brand, root),
    },
    usage,
    files: fileRecord,
    database: { schema: brand.schema, rows, contextOfPieces },
    relocation: { repoint, isDiverted: (environment) => isDiverted(brand, environment) },
    watching: { concerns },
    registration: registrationOf(brand),
  }
}
