/**
 * The sessions of `fixtures/`, as scenarios: among them are the generations that no installed client writes any more, and
 * shapes that no scenario reaches. What they are to say is what their client told its model, where it was asked, and else
 * the live conversation as pond reads it.
 */
import type { Conversation } from "../../src/adapters/adapter.ts"
import { adapterById } from "../../src/adapters/registry.ts"
import { resultText } from "../../src/adapters/shared/translate.ts"
import { type JsonValue, stringifyJson } from "../../src/model/json.ts"
import type { Entry, Part } from "../../src/model/session.ts"
import { conversationOf, fixturesOf, logsOf } from "../contract/fixtures.ts"
import type { Client } from "./client.ts"
import type { Item } from "./model/request.ts"

/** None for the older package of pi: its successor has them. */
export function fixturesNamed({ name, adapter: id }: Client): string[] {
  const adapter = name === "pi-old" ? undefined : adapterById(id)
  return adapter === undefined ? [] : fixturesOf(adapter).map((fixture) => fixture.name)
}

export interface Held {
  /** The directory that it was held in. */
  readonly project: string
  readonly items: readonly Item[]
}

/** The conversations of a fixture by session, without those of agents and those in which nobody says anything. */
export async function fixtureOf(
  client: Client,
  name: string,
): Promise<{ readonly root: string; readonly conversations: ReadonlyMap<string, Held> }> {
  const adapter = adapterById(client.adapter)
  const fixture = adapter === undefined ? undefined : fixturesOf(adapter).find((each) => each.name === name)
  if (adapter === undefined || fixture === undefined) throw new Error(`There is no fixture ${name} of ${client.name}.`)
  const logs = await logsOf(adapter, fixture.root)
  const own = [...logs.values()].filter(({ session }) => !session.source_agent.includes("/"))
  const all = own.map(({ session: { id, project } }) => {
    const read = itemsOf(conversationOf(adapter, logs, id))
    // What was thought is not in what a client was seen to send.
    const seen = fixture.expected[id]
    const items = seen === undefined ? read : [...seen, ...read.filter(({ role }) => role === "reasoning")]
    return [id, { project, items }] as const
  })
  const conversations = new Map(all.filter(([, { items }]) => items.some(({ role }) => role === "user")))
  return { root: fixture.root, conversations }
}

/** Pictures come before the text that they are sent with: what is compared is looked for in this order. */
function itemsOf({ entries }: Conversation): Item[] {
  return entries.flatMap(({ message, parts }: Entry) =>
    [...parts]
      .sort((left, right) => Number(right.type === "file") - Number(left.type === "file"))
      .flatMap((part) => itemOf(message.role, part)),
  )
}

/** What a harness says is each client's own. */
function itemOf(role: string, part: Part): Item[] {
  if (part.type === "tool_result")
    return [{ role: "result", id: part.call_id, text: resultText(part.result as JsonValue) }]
  if (part.provenance !== "conversational") return []
  if (part.type === "tool_call")
    return [{ role: "call", id: part.call_id, name: part.name, args: stringifyJson(part.params as JsonValue) }]
  // A client that goes on with another model sends what was thought as what was said.
  if (part.type === "reasoning") return [{ role: "reasoning", text: part.text }]
  if (part.type === "file") return role === "user" ? [{ role, text: "", images: 1 }] : []
  if (part.type !== "text" || part.text.trim() === "") return []
  return role === "user" || role === "assistant" ? [{ role, text: part.text }] : []
}
