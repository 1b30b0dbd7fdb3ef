/** Who said what stands in the user's place: what the client notes of it, and where it notes nothing, the words. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"

/** Commands that a person typed. */
const TYPED = new Set(["skill_activation", "plugin_command"])

/** What kind of text of the client's own it is. Undefined where a person said it, or a model for its agent. */
export function injectedByOrigin(origin: JsonValue): string | undefined {
  const { kind, variant, name, phase } = isJsonObject(origin) ? origin : {}
  if (kind === "user" || typeof kind !== "string") return undefined
  if (kind === "system_trigger" && name === "subagent") return undefined
  if (kind === "shell_command" && phase === "input") return undefined
  if (kind === "compaction_summary") return "compact-summary"
  if (kind === "injection") return typeof variant === "string" ? (KINDS[variant] ?? variant) : "system-reminder"
  return TYPED.has(kind) ? "command" : kind
}

/** Words that the client says anew whenever it goes on. */
const KINDS: Readonly<Record<string, string>> = {
  date_change: "system-reminder",
  permission_mode: "system-reminder",
  agents_md: "agents-md",
}

/** A stretch of a text, and what kind of text of the client's own it is. */
export interface Stretch {
  readonly begin: number
  readonly end: number
  readonly kind: string | undefined
}

/** What stands before the task of an agent, whoever gave it. */
const SURROUNDINGS = /^<git-context>\n[\s\S]*?\n<\/git-context>\n*/

const SUMMARY = /^<system>\s*Previous context has been compacted/
const OWN_WORDS = /^<(?:system-reminder|system)>[\s\S]*<\/(?:system-reminder|system)>\s*$/

/** `isUnnoted`: the client noted nothing of who said it. */
export function injectedByText(text: string, isUnnoted: boolean): readonly Stretch[] {
  const all = (kind: string | undefined) => [{ begin: 0, end: text.length, kind }]
  const surroundings = SURROUNDINGS.exec(text)?.[0].length ?? 0
  if (surroundings > 0)
    return [
      { begin: 0, end: surroundings, kind: "environment-context" },
      ...(surroundings === text.length ? [] : [{ begin: surroundings, end: text.length, kind: undefined }]),
    ]
  if (!isUnnoted) return all(undefined)
  if (SUMMARY.test(text)) return all("compact-summary")
  return all(OWN_WORDS.test(text) ? "system-reminder" : undefined)
}
