/** The tree of a conversation. Exports of 2026 have no lists of children, and leave out nodes: a parent is all that is relied on. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { textIn } from "./nodes.ts"

export interface Tree<Node extends JsonValue> {
  /** Every node once: a branch from its root on, branches by their times, and the live one behind the others. */
  readonly inOrder: readonly Node[]
  /** From the parent of a node up to its root. */
  ancestors(node: JsonValue): readonly Node[]
}

export function treeOf<Node extends JsonValue>(nodes: readonly Node[], current: string | undefined): Tree<Node> {
  const byId = new Map<string, Node>()
  for (const node of nodes) byId.set(textIn(node, "id") ?? "", node)
  const parentOf = (node: JsonValue) => byId.get(textIn(node, "parent") ?? "")

  function ancestors(node: JsonValue): Node[] {
    const found = new Set<Node>()
    for (let parent = parentOf(node); parent !== undefined && !found.has(parent); parent = parentOf(parent))
      found.add(parent)
    return [...found]
  }

  const last = byId.get(current ?? "")
  const live = new Set<Node>(last === undefined ? [] : [last, ...ancestors(last)])
  const children = Map.groupBy(nodes, parentOf)
  const byTime = (left: Node, right: Node) =>
    Number(live.has(left)) - Number(live.has(right)) || secondsOf(left) - secondsOf(right)
  const inOrder = new Set<Node>()
  // A chain may be longer than a stack is deep. What hangs on no root stands behind all that does.
  const waiting: Node[] = []
  const walk = (from: readonly Node[]): void => {
    waiting.push(...from.toReversed())
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (inOrder.has(node)) continue
      inOrder.add(node)
      for (const child of (children.get(node) ?? []).toSorted(byTime).toReversed()) waiting.push(child)
    }
  }
  walk((children.get(undefined) ?? []).toSorted(byTime))
  for (const node of nodes) walk([node])
  return { inOrder: [...inOrder], ancestors }
}

function secondsOf(node: JsonValue): number {
  const message = isJsonObject(node) ? (node as JsonObject)["message"] : undefined
  const time = isJsonObject(message) ? message["create_time"] : undefined
  return typeof time === "number" ? time : 0
}
