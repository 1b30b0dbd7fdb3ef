/** Mistral Vibe: the store of 3.x, logs of 2.x, documents of 1.x. */
import { type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { parse } from "./parse.ts"
import { BRAND } from "./records.ts"
import { registration } from "./registration.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

/** Prompts that the client asks by the clock while the session is open. */
function scheduledBy(loops: JsonValue | undefined): string | undefined {
  return Array.isArray(loops) && loops.length > 0 ? "prompts on a schedule" : undefined
}

/** The name of its agent, which says what it asks for, stands at several depths. */
function agentGrant(record: JsonObject): string | undefined {
  const [, name] = /"agent_name":"(accept-edits|auto-approve)"/.exec(stringifyJson(record)) ?? []
  return name === undefined ? undefined : `agent ${name}`
}

function approvalGrant(record: JsonObject): string | undefined {
  return stringifyJson(record).includes('"auto_approve":true') ? "approval of everything" : undefined
}

export const vibe: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "client", from: "1.3.5", to: "3.0.3", packages: ["mistral-vibe"] },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|session_[\d_]+[0-9a-f]{8})$/i,
    relativePaths: [
      /^session_[\w-]+\.json$/,
      /^(?:session_[\w-]+\/(?:agents\/)?){1,4}(?:messages\.jsonl|meta\.json)$/,
      /^unified\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/(?:CURRENT|meta\.json|scheduled-loops\.json)$/,
      /^unified\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/generations\/\d{16}\/[\w-]+\.json$/,
      /^unified\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/(?:chunks\/[0-9a-f]{64}\.json|journal\/\d{16}\.jsonl)$/,
    ],
    grants: [
      { at: /\/(?:meta|scheduled-loops)\.json$/, word: "loops", of: ({ loops }) => scheduledBy(loops) },
      { at: /\.jsonl?$/, word: "agent_name", of: (record) => agentGrant(record) },
      { at: /\.jsonl?$/, word: "auto_approve", of: (record) => approvalGrant(record) },
    ],
  },
  vocabulary,
  usage,
  watching: { concerns },
  registration,
}
