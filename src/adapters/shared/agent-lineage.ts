/** For clients that find a sub-agent by its parent's files alone: without the parent there is no session of the agent. */
import type { Session } from "../../model/session.ts"
import type { Lineages } from "../capabilities.ts"

export const agentLineage: Lineages = {
  open: (session: Session) => ({
    push: () => undefined,
    needs: () => (isAgent(session) && session.parent_session_id !== undefined ? [session.parent_session_id] : []),
  }),
}

function isAgent({ source_agent: agent }: Session): boolean {
  return agent.includes("/")
}
