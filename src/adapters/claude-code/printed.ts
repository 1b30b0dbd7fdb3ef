/**
 * What `claude -p --output-format stream-json` prints, as the log that the client would have kept: for jobs in which it is
 * told to keep none, and whose only trace is that output, or the list of the same messages that its action leaves behind
 * (`execution_file`).
 *
 * The output names each message, its time (since 2.1) and its session, but not the message before it: a log's chain of
 * parents is the order of the output. What the person typed is not in it, unless the client was told to repeat it. Lines
 * that are no message (`system`, `result`, pieces of a message that comes whole later) are left out.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { PrintedLog } from "../adapter.ts"
import { projectKey } from "./project-key.ts"

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function printedLogs(output: string): readonly PrintedLog[] {
  const logs = new Map<string, Log>()
  for (const line of messagesOf(output)) {
    const { session_id: id } = line
    if (typeof id !== "string" || !UUID.test(id)) continue
    const log = logs.get(id) ?? { id, cwd: undefined, version: undefined, last: new Map(), lines: [] }
    logs.set(id, log)
    if (line["type"] === "system" && line["subtype"] === "init") {
      log.cwd ??= line["cwd"]
      log.version ??= line["claude_code_version"]
    }
    if (line["type"] === "user" || line["type"] === "assistant") addMessage(log, line)
  }
  return [...logs.values()].flatMap(({ id, cwd, lines }) => {
    if (lines.length === 0 || typeof cwd !== "string") return []
    return [{ sessionId: id, relativePath: `projects/${projectKey(cwd)}/${id}.jsonl`, text: `${lines.join("\n")}\n` }]
  })
}

interface Log {
  readonly id: string
  cwd: JsonValue | undefined
  version: JsonValue | undefined
  /** The last message of the session, and of each agent by the call that started it. */
  readonly last: Map<string, JsonValue>
  readonly lines: string[]
}

function addMessage(log: Log, line: JsonObject): void {
  const { type, message, uuid, timestamp, parent_tool_use_id: call, tool_use_result: result, isMeta } = line
  if (typeof uuid !== "string" || !isJsonObject(message)) return
  const thread = typeof call === "string" ? call : ""
  const record: Record<string, JsonValue | undefined> = {
    ...{ parentUuid: log.last.get(thread) ?? null, isSidechain: thread !== "", type, message, uuid, timestamp },
    ...{ isMeta, toolUseResult: result, cwd: log.cwd, sessionId: log.id, version: log.version },
  }
  log.last.set(thread, uuid)
  const known = Object.entries(record).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined)
  log.lines.push(stringifyJson(Object.fromEntries(known)))
}

/** One message a line, or a list of all. */
function messagesOf(output: string): JsonObject[] {
  const whole = output.trimStart().startsWith("[") ? parseJson(output) : undefined
  if (whole?.ok === true && Array.isArray(whole.value)) return whole.value.filter(isJsonObject)
  return output.split("\n").flatMap((line) => {
    const parsed = line.startsWith("{") ? parseJson(line) : undefined
    return parsed?.ok === true && isJsonObject(parsed.value) ? [parsed.value] : []
  })
}
