/** OpenHands: the conversations of its command line, its server and its library from 1.0 on. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { parse } from "./parse.ts"
import { BRAND } from "./records.ts"
import { registration } from "./registration.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const openhands: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "client", from: "1.58.2", to: "1.58.2", packages: ["openhands-sdk"] },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[0-9a-f]{32}$/,
    relativePaths: [
      /^(?:conversations\/)?(?:[0-9a-f]{32}\/(?:[\w-]+\/)?){1,6}base_state\.json$/,
      /^(?:conversations\/)?(?:[0-9a-f]{32}\/(?:[\w-]+\/)?){1,6}event-\d{5,}-[\w-]+\.json$/,
    ],
  },
  vocabulary,
  usage,
  relocation: { isDiverted: (environment) => Boolean(environment["OPENHANDS_CONVERSATIONS_DIR"]) },
  watching: { concerns },
  registration,
}
