/** What the live conversation of each session of a fixture tells, a line for each part, for tests of provenance. */
import type { Adapter } from "../../src/adapters/adapter.ts"
import type { Entry, Part, SessionLog } from "../../src/model/session.ts"
import { visibleLine } from "../../src/model/visible.ts"
import { fixturesOf, logsOf } from "../contract/fixtures.ts"

export async function logsOfFixture(adapter: Adapter, name: string): Promise<SessionLog[]> {
  const fixture = fixturesOf(adapter).find((each) => each.name === name)
  if (fixture === undefined) throw new Error(`${adapter.id} has no fixture ${name}`)
  return [...(await logsOf(adapter, fixture.root)).values()]
}

/** For each session. */
export async function told(adapter: Adapter, name: string): Promise<string[][]> {
  const logs = await logsOfFixture(adapter, name)
  return logs.map((log) => adapter.context(log, []).flatMap(linesOfEntry))
}

function linesOfEntry({ message, parts }: Entry): string[] {
  return (parts as readonly Part[]).map((part) => {
    const isInjected = part.provenance === "injected" && message.role !== "tool"
    return `${message.role}${isInjected ? ", injected" : ""}: ${toldPart(part)}`
  })
}

function toldPart(part: Part): string {
  switch (part.type) {
    case "text":
      return visibleLine(part.text)
    case "reasoning":
      return `thinks ${visibleLine(part.text)}`
    case "tool_call":
      return `calls ${part.name} as ${part.call_id}`
    case "tool_result":
      return `answers ${part.call_id}${part.is_failure ? ", failed" : ""}`
    case "file":
      return `shows ${part.file_name ?? part.media_type}${"base64" in part.data ? " with bytes" : ""}`
    default:
      return part.type
  }
}
