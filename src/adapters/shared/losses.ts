/**
 * The table of losses: everything that a session can lose on its way into another client. Each loss that a serializer
 * reports is one of these, so that what is shown before a restore is known in full, and frozen by a test.
 */
import type { Loss } from "../../model/report.ts"

export const LOSSES = {
  approval: "permission requests and answers",
  attachment: "files that the target does not support",
  cut_text: "prompts that look like the target's own words and are read in several pieces",
  failure_mark: "the failed state of tool calls whose result does not show it",
  half_character: "half characters, which the target cannot read",
  injected_context: "environment information; the target adds its own",
  line_breaks: "spaces and line breaks at the ends of texts, or of other kinds, which the target does not keep",
  markup: "headings and quotes in answers, which get a space in front because the target takes them for something else",
  missing_history: "earlier messages from a session that is not stored",
  model_settings: "model settings that the target does not support",
  opaque: "data that only the source understands",
  reasoning: "reasoning, dropped as requested",
  reasoning_as_text: "reasoning, converted to text",
  result_order: "the order of text and pictures in results",
  sealed_reasoning: "reasoning that only its provider can read",
  stray_result: "results without a call",
  subagent: "sub-agent sessions",
  system_message: "system messages",
  tool_call: "tool calls and results, which the target shows and does not send to its model",
  tool_name: "the ends of tool names, which are longer than the target takes",
  tool_params: "tool parameters that the target does not support",
  unanswered_call: "calls without a result, which the target does not send",
  unsent_prompt:
    "prompts that begin like a command of the target, which keeps them and does not send them to its model",
} as const satisfies Record<string, string>

export type LossKind = keyof typeof LOSSES

export function loss(kind: LossKind, messageId: string, found: string = LOSSES[kind]): Loss {
  return { kind, messageId, found }
}
