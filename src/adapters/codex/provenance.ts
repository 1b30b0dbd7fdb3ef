/**
 * Which text in the user's slot a person wrote, and which Codex put there. Versions from 2026 on say it beside the
 * content (`content_item_kinds`); before that only the markers of the text itself do. A text that fuses both, such as the
 * editor's context in front of a request, is cut at the exact boundary. Knows text, no records.
 */
import { type Placed, splitAt } from "../extract.ts"
import { injectedText, type PartDraft, textPart } from "../parts.ts"

/** Fragments that are a separate text, from their first mark to their last: Codex compares without regard to case. */
const FRAGMENTS: readonly (readonly [opening: string, closing: string, kind: string])[] = [
  ["# agents.md instructions", "</instructions>", "agents-md"],
  ["<user_instructions>", "</user_instructions>", "agents-md"],
  ["<environment_context>", "</environment_context>", "environment-context"],
  ["<recommended_plugins>", "</recommended_plugins>", "recommended-plugins"],
  ["<turn_aborted>", "</turn_aborted>", "turn-aborted"],
  ["<subagent_notification>", "</subagent_notification>", "subagent-notification"],
  ["<skill>", "</skill>", "skill"],
  ["<hook_prompt", "</hook_prompt>", "hook-prompt"],
  ["<codex_internal_context", "</codex_internal_context>", "internal-context"],
  ["<goal_context>", "</goal_context>", "goal-context"],
  ["<extension_context>", "</extension_context>", "extension-context"],
  ["<external_", ">", "additional-context"],
  ["<user_action>", "</user_action>", "user-action"],
  ["<permissions instructions>", "</permissions instructions>", "permissions"],
]

/** Texts that Codex writes as a whole, by how they begin. */
const OPENINGS: readonly (readonly [opening: string, kind: string])[] = [
  ["another language model started to solve this problem", "compact-summary"],
  ["warning: the maximum number of unified exec processes", "warning"],
  ["warning: apply_patch was requested via", "warning"],
  ["warning: your account was flagged for potentially high-risk cyber activity", "warning"],
]

/** What editors put in front of a request, and the heading that the request stands under. */
const EDITOR_CONTEXT = /^\s*# [^\n]+:[ \t]*\n/
const REQUEST = /(?:^|\n)## My request for Codex:[ \t]*(?:\r?\n)*/

/** A command that a person ran, and what the harness wrote about it. */
const SHELL_COMMAND = /^(\s*<user_shell_command>\s*<command>\n?)(.*?)(\n?<\/command>.*<\/user_shell_command>\s*)$/is

const AGENT_HEADER = /^Message Type: [^\n]*\n(?:[A-Z][A-Za-z ]*: [^\n]*\n)*Payload:\n/

/**
 * The parts of one text of a user. `kind` is what the client itself calls it, where it does. A label around an image
 * (`isLabel`) is a separate text.
 */
export function userTextParts(text: Placed<string>, kind: string | undefined, isLabel: boolean): PartDraft<"text">[] {
  const injected = isLabel ? "image-label" : injectedKind(text.value, kind)
  if (injected !== undefined) return [injectedText(text, injected)]
  const command = SHELL_COMMAND.exec(text.value)
  if (command !== null) {
    const [, before = "", typed = ""] = command
    return piecesOf(text, [before.length, before.length + typed.length], ["shell-command", undefined, "shell-command"])
  }
  const start = requestStart(text.value)
  if (start !== undefined) return piecesOf(text, [start], ["editor-context", undefined])
  return [textPart({ provenance: "conversational", text })]
}

/** What one agent sends another: the header is the harness's, the message itself was written by a model. */
export function agentTextParts(text: Placed<string>, isInstruction: boolean): PartDraft<"text">[] {
  const header = AGENT_HEADER.exec(text.value)?.[0].length ?? 0
  if (!isInstruction) return [injectedText(text, "agent-message")]
  return piecesOf(text, [header], header === 0 ? [undefined] : ["agent-message", undefined])
}

/** `<image name=[Image #1] path="…">` before an image, `</image>` behind it. */
export function isImageLabel(text: string): boolean {
  return text === "<image>" || text === "</image>" || (text.startsWith("<image name=") && text.endsWith(">"))
}

/** What injected a text, or nothing where a person wrote it. The client says whether, the text says what. */
function injectedKind(text: string, kind: string | undefined): string | undefined {
  // A person may quote a fragment. Kinds of the user's own begin with `user.`; of `unknown` the client knew no more than we do.
  if (kind?.startsWith("user.") === true) return undefined
  const found = fragmentKind(text)
  return kind === undefined || kind === "unknown" ? found : (found ?? KINDS.get(kind) ?? kind)
}

/** What the client calls its fragments, in the words that their marks give. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ["agents_md.instructions", "agents-md"],
  ["environments.environment_context", "environment-context"],
  ["permissions.instructions", "permissions"],
  ["compaction.summary", "compact-summary"],
  ["multi_agent.subagent_notification", "subagent-notification"],
  ["skills.selected_skill_instructions", "skill"],
  ["hooks.additional_context", "hook-prompt"],
])

/** What the client would call a text that was injected as this, or that a person wrote. */
export function contentKind(injected: string | undefined, authored: string): string {
  if (injected === undefined) return authored
  for (const [kind, found] of KINDS) if (found === injected) return kind
  return injected
}

/** In how many pieces a text is read that a person wrote. */
export function piecesOfText(text: string): number {
  if (isFragment(text)) return 1
  const command = SHELL_COMMAND.exec(text)
  if (command !== null) return command.slice(1).filter((piece) => piece !== "").length
  const start = requestStart(text)
  return start === undefined || start === 0 || start === text.length ? 1 : 2
}

/** Whether a text looks like one that Codex writes. */
export function isFragment(text: string): boolean {
  return fragmentKind(text) !== undefined
}

function fragmentKind(text: string): string | undefined {
  const start = text.length - text.trimStart().length
  const head = text.slice(start, start + 80).toLowerCase()
  if (!/^[<#aw]/.test(head)) return undefined
  const whole = OPENINGS.find(([opening]) => head.startsWith(opening))
  if (whole !== undefined) return whole[1]
  const tail = text.trimEnd().slice(-32).toLowerCase()
  return FRAGMENTS.find(([opening, closing]) => head.startsWith(opening) && tail.endsWith(closing))?.[2]
}

/** Where the request begins behind what an editor put in front of it. */
function requestStart(text: string): number | undefined {
  if (!EDITOR_CONTEXT.test(text)) return undefined
  const found = REQUEST.exec(text)
  return found === null ? undefined : found.index + found[0].length
}

/** The text cut at the offsets; empty pieces are none. */
function piecesOf(
  text: Placed<string>,
  offsets: readonly number[],
  kinds: readonly (string | undefined)[],
): PartDraft<"text">[] {
  const bounds = [0, ...offsets, text.value.length]
  // An empty piece would be a part without a text: `splitAt` gets each boundary once.
  const filled = kinds.filter((_, index) => (bounds[index] ?? 0) < (bounds[index + 1] ?? 0))
  return splitAt(text, [...new Set(offsets)]).map((piece, index) => {
    const kind = filled[index]
    return kind === undefined ? textPart({ provenance: "conversational", text: piece }) : injectedText(piece, kind)
  })
}
