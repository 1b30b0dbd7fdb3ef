/** Kimi Code (0.x to 2.x), and kimi-cli, which it took the place of. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Adapter } from "../adapter.ts"
import { agentLineage } from "../shared/agent-lineage.ts"
import { context } from "./context.ts"
import { movedTo } from "./directory-key.ts"
import { parse } from "./parse.ts"
import { BRAND } from "./records.ts"
import { registration } from "./registration.ts"
import { serialize } from "./serialize.ts"
import { concerns, lastModel, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

const UUID = "[\\da-f]{8}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{12}"
/** The desktop application calls its sessions otherwise. */
const SESSION = `(?:(?:session_|ses_)?${UUID}|conv-[\\w-]{4,60})`
const AGENT = "[a-z\\d][\\w-]{0,40}"

/** kimi-cli keeps with a session what its user allowed for good. */
function approvedBy(approval: JsonValue | undefined): string | undefined {
  if (approval === undefined || !isJsonObject(approval)) return undefined
  const { yolo, auto_approve_actions: actions } = approval
  if (yolo === true) return "approval of everything"
  return Array.isArray(actions) && actions.length > 0 ? "approval of actions" : undefined
}

export const kimi: Adapter = {
  id: BRAND.id,
  title: "Kimi Code",
  judged: { by: "client", from: "2.1.0", to: "2.1.0", packages: ["@moonshot-ai/kimi-code"] },
  source,
  parse,
  context,
  serialize,
  output: {
    // An agent is told apart within the session that started it.
    sessionIds: new RegExp(`^${SESSION}(?::${AGENT})?$`, "i"),
    relativePaths: [
      new RegExp(`^sessions/[\\w.-]+/${SESSION}/state\\.json$`, "i"),
      new RegExp(
        `^sessions/[\\w.-]+/${SESSION}/agents/${AGENT}/(?:wire\\.jsonl|blobs/[\\da-f]{64}|plans/[\\w-]+\\.md)$`,
        "i",
      ),
      // kimi-cli
      new RegExp(
        `^sessions/[\\w-]+/${SESSION}/(?:subagents/${AGENT}/)?(?:(?:context(?:_\\d+)?|wire)\\.jsonl|(?:state|meta)\\.json)$`,
        "i",
      ),
      new RegExp(`^sessions/[\\w-]+/${SESSION}\\.jsonl$`, "i"),
    ],
    grants: [
      {
        at: /\/wire\.jsonl$/,
        word: "permission.",
        of: ({ type, mode }) =>
          type === "permission.set_mode" && (mode === "auto" || mode === "yolo")
            ? `permission mode ${mode}`
            : undefined,
      },
      { at: /\/state\.json$/, word: "approval", of: ({ approval }) => approvedBy(approval) },
    ],
  },
  vocabulary,
  models: { recordedAt: [], lastUsed: lastModel },
  usage,
  contentIds: true,
  lineage: agentLineage,
  relocation: { relativePath: movedTo },
  watching: { concerns },
  registration,
}
