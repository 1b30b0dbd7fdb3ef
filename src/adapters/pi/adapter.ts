/** pi, versions 1 to 4 of its logs, and oh-my-pi, whose logs are of version 3. */
import type { Adapter } from "../adapter.ts"
import { type Brand, isDiverted, OH_MY_PI, PI } from "./brands.ts"
import { context } from "./context.ts"
import { directoryOf } from "./foreign.ts"
import { parserOf, unchangedByUpgrade } from "./parse.ts"
import { attachmentsOf } from "./pictures.ts"
import { ompRegistration, registration } from "./registration.ts"
import { serializeOf } from "./serialize.ts"
import { brandSource, concernsOf } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabularyOf } from "./vocabulary.ts"

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const pi: Adapter = {
  ...coreOf(PI),
  judged: {
    by: "client",
    from: "0.27.9",
    to: "0.87.1",
    packages: ["@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"],
  },
  output: {
    sessionIds: SESSION_ID,
    // Below its root lie sessions and nothing else; extensions put those of their sub-agents into separate folders.
    relativePaths: [/^(?:[^/]+\/)*[^/]+\.jsonl$/],
  },
  vocabulary: vocabularyOf(PI),
  models: { recordedAt: [{ role: "assistant", path: ["message", "model"] }] },
  usage,
  relocation: {
    relativePath: (path, from, to) => path.replace(`${directoryOf(from)}/`, () => `${directoryOf(to)}/`),
    isDiverted,
  },
  upgrade: { unchanged: unchangedByUpgrade },
  registration,
}

/** A session, and the folder of what its agents and its tools put away. */
const OWN = "sessions/-[^/]*/\\d{4}-\\d\\d-\\d\\dT[\\dZ-]+_[\\w-]+"

export const ohMyPi: Adapter = {
  ...coreOf(OH_MY_PI),
  judged: { by: "client", from: "18.2.3", to: "18.2.3", packages: ["@oh-my-pi/pi-coding-agent"] },
  output: {
    sessionIds: SESSION_ID,
    relativePaths: [
      new RegExp(`^${OWN}(?:/[\\w.-]+)*\\.jsonl$`),
      new RegExp(`^${OWN}(?:/[\\w-]+)*/[\\w-]+(?:\\.[\\w-]+)*\\.(?:md|log|txt|json)$`),
      /^blobs\/[0-9a-f]{64}$/,
    ],
  },
  vocabulary: vocabularyOf(OH_MY_PI),
  models: { recordedAt: [{ role: "assistant", path: ["message", "model"] }] },
  usage,
  attachments: attachmentsOf,
  // A folder by its long name is what the client itself renames when it looks there: its short one depends on the home.
  relocation: {
    relativePath: (path, _, to) => path.replace(/^(sessions\/)[^/]+/, (_all, below) => `${below}${directoryOf(to)}`),
  },
  upgrade: { unchanged: unchangedByUpgrade },
  watching: { concerns: concernsOf(OH_MY_PI) },
  registration: ompRegistration,
}

function coreOf(brand: Brand) {
  return {
    id: brand.id,
    title: brand.title,
    judged: { by: "client", from: "", to: "" } as Adapter["judged"],
    source: brandSource(brand),
    parse: parserOf(brand),
    context,
    serialize: serializeOf(brand),
  }
}
