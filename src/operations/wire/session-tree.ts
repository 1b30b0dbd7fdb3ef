/** The family of a session by names and sizes: itself and everything that names it as a parent, however deep. */
import { type Static, Type } from "typebox"
import { PondError } from "../../model/errors.ts"
import { countText } from "../../model/numbers.ts"
import type { Session } from "../../model/session.ts"
import type { Sessions } from "../../sessions/store.ts"
import { closedObject } from "../operation.ts"
import { SessionView, sessionView } from "./views.ts"

export const TreeNode = closedObject({
  session: SessionView,
  /** 0 for the session that was asked for. */
  depth: Type.Integer(),
  messages: Type.Integer(),
})

type Node = Static<typeof TreeNode>

const NODES_MAX = 2000

/** Each before what it holds, in the order of their beginnings. A session that is met again is not followed again. */
export async function sessionTree(sessions: Sessions, root: Session): Promise<Node[]> {
  const nodes: Node[] = []
  const met = new Set<string>()
  const waiting: { session: Session; depth: number }[] = [{ session: root, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { session, depth } = next
    if (met.has(session.id)) continue
    met.add(session.id)
    if (met.size > NODES_MAX) throw tooLarge(root.id)
    const [all, gone] = await Promise.all([sessions.messageCount(session.id), sessions.superseded([session.id])])
    nodes.push({ session: sessionView(session), depth, messages: all - gone.count })
    const children = await sessions.children(session.id)
    const newestFirst = children.toSorted((left, right) => (left.created_at > right.created_at ? -1 : 1))
    waiting.push(...newestFirst.map((child) => ({ session: child, depth: depth + 1 })))
  }
  return nodes
}

function tooLarge(id: string): PondError {
  return new PondError(
    "validation_failed",
    `${id} has more than ${countText(NODES_MAX)} sub-agent sessions. Request one of its children, or use SQL.`,
    { details: { session_id: id, nodes_max: NODES_MAX } },
  )
}
