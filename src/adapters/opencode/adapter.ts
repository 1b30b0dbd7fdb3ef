/** opencode, from the JSON trees of 2025 to the database of version 1.18, and Kilo Code, which has its format. */

import { isJsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import { systemClock } from "../../platform/host/clock.ts"
import type { Adapter } from "../adapter.ts"
import type { Grant } from "../output-forms.ts"
import { type Brand, KILO, OPENCODE } from "./brands.ts"
import { context, contextOfPieces } from "./context.ts"
import { fileRecord } from "./files.ts"
import { parserOf } from "./parse.ts"
import { hooks, registrationOf } from "./registration.ts"
import { isDiverted } from "./roots.ts"
import { repoint, serializerOf } from "./serialize.ts"
import { concerns, createSource, lastModel } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

/** Rules of a session count before those of its user; the commands of a project are run in each new copy of its directory. */
const grants: readonly Grant[] = [
  { at: { table: "session" }, word: "permission", of: ({ permission }) => allowedBy(permission) },
  {
    at: { table: "event" },
    word: "permissions.updated",
    of: ({ type }) => (String(type).includes("permissions.updated") ? "rules of permission" : undefined),
  },
  { at: { table: "project" }, word: "commands", of: ({ commands }) => startedBy(commands) },
  { at: /\.json$/, word: "permission", of: ({ permission }) => allowedBy(permission) },
  { at: /\.json$/, word: "commands", of: ({ commands }) => startedBy(commands) },
]

export const opencode = adapterOf(OPENCODE)
export const kilo = adapterOf(KILO)

function allowedBy(rules: JsonValue | undefined): string | undefined {
  if (rules === undefined || rules === null) return undefined
  const allowing = /"(?:action|effect)":"allow"|:"allow"/.exec(stringifyJson(rules))
  return allowing === null ? undefined : "rules of permission that allow"
}

function startedBy(commands: JsonValue | undefined): string | undefined {
  if (commands === undefined || !isJsonObject(commands)) return undefined
  const { start } = commands
  return typeof start === "string" && start !== "" ? `the project's start command ${start}` : undefined
}

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
      grants,
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
    ...(brand.id === OPENCODE.id ? { hooks } : {}),
  }
}
