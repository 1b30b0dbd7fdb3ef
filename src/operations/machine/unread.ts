/** Clients that pond has no adapter for, and what they are about to delete. */
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { ADAPTERS } from "../../adapters/registry.ts"
import { unreadClients } from "../../adapters/unread-clients.ts"
import { surveyUnread, type UnreadSurvey } from "../../sync/plan/survey.ts"
import type { Pond } from "../pond.ts"

export async function unreadOf(pond: Pond, signal: AbortSignal): Promise<readonly UnreadSurvey[]> {
  const { environment, clock } = pond.host
  const home = environment["HOME"] ?? homedir()
  const clients = unreadClients(ADAPTERS).flatMap((client) =>
    client.source
      .roots(environment, home)
      .filter((root) => existsSync(root))
      .map((root) => ({ client, root })),
  )
  return await surveyUnread(clients, { clock, signal })
}
