/** Cline: the sessions of its command line 3 and its extension 4, the tasks before them, and the tasks of its kin. */
import type { Adapter } from "../adapter.ts"
import { agentLineage } from "../shared/agent-lineage.ts"
import { type Brand, CLINE, KILO_LEGACY, ROO_CODE, ZOO_CODE } from "./brands.ts"
import { context } from "./context.ts"
import { parserOf } from "./parse.ts"
import { registration } from "./registration.ts"
import { atRoot, serializerOf } from "./serialize.ts"
import { brandSource, concerns, lastModel } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

const OWN = "\\d{13}_[\\w-]{5}(?:_[a-z]{2,8})?"
const UUID = "[\\da-f]{8}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{12}"
/** An agent, and a task of a team that an agent works on. */
const AGENT = "agent_\\d{13}_\\w{6}(?:__[\\w-]{1,80})?"

export const cline: Adapter = {
  ...coreOf(CLINE),
  judged: { by: "client", from: "3.0.65", to: "3.0.65", packages: ["@cline/cli", "cline"] },
  output: outputOf(),
  vocabulary,
  models: { recordedAt: [], lastUsed: lastModel },
  usage,
  lineage: agentLineage,
  relocation: { atRoot },
  watching: { concerns },
  registration,
}

export const rooCode = ofTasks(ROO_CODE)
export const zooCode = ofTasks(ZOO_CODE)
export const kiloLegacy = ofTasks(KILO_LEGACY)

/** No binary of an extension can be asked. */
function ofTasks(brand: Brand): Adapter {
  const judged = { by: "source only", from: brand.read.from, to: brand.read.to } as const
  return { ...coreOf(brand), judged, output: outputOf(), vocabulary, usage, watching: { concerns } }
}

function coreOf(brand: Brand) {
  return {
    id: brand.id,
    title: brand.title,
    judged: { by: "source only", from: brand.read.from, to: brand.read.to } as Adapter["judged"],
    source: brandSource(brand),
    parse: parserOf(brand),
    context,
    serialize: serializerOf(brand),
  }
}

function outputOf(): Adapter["output"] {
  return {
    sessionIds: new RegExp(`^(?:${OWN}|\\d{13}|${UUID})(?:__${AGENT})?$`),
    relativePaths: [
      new RegExp(`^sessions/(?:${OWN}|${UUID})/(?:${OWN}|${UUID}|${AGENT})(?:\\.messages|\\.compaction)?\\.json$`),
      new RegExp(
        `^tasks/(?:\\d{13}|${UUID})/(?:api_conversation_history|claude_messages|ui_messages|context_history|task_metadata|history_item)\\.json$`,
      ),
    ],
  }
}
