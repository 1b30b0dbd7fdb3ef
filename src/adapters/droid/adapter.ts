/** Factory's Droid: a log for each session, which it also sends to its maker unless its user forbids that. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { movedTo } from "./directory-key.ts"
import { parse } from "./parse.ts"
import { BRAND } from "./records.ts"
import { registration } from "./registration.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

/** What it asks of its user in these modes is all that it does not merely read. */
const ASKING = ["normal", "spec", "off"]

export const droid: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "client", from: "0.225.2", to: "0.225.2", packages: ["@factory/cli", "droid"] },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    // A folder is named after its directory, spaces and all.
    relativePaths: [/^sessions\/(?:[^/]+\/)?[0-9a-f-]{36}\.(?:jsonl|settings\.json)$/i],
    grants: ["autonomyMode", "autonomyLevel"].map((name) => ({
      at: /\.settings\.json$/i,
      word: name,
      of: ({ [name]: value }) =>
        value === undefined || value === null || ASKING.some((each) => each === value)
          ? undefined
          : `${name} ${String(value)}`,
    })),
  },
  vocabulary,
  models: { recordedAt: [{ role: "assistant", path: ["message", "modelId"] }] },
  usage,
  relocation: { relativePath: movedTo },
  watching: { concerns },
  registration,
}
