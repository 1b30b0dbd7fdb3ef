/**
 * The table of losses: everything that a session can lose on its way into another client. Each loss that a serializer
 * reports is one of these, so that what is shown before a restore is known in full, and frozen by a test.
 */
import type { Loss } from "../../model/report.ts"

export const LOSSES = {
  approval: "a question for permission, and its answer",
  attachment: "a file that the target cannot hold",
  failure_mark: "that a tool call failed, where its result does not say so itself",
  half_character: "half of a character that was cut in two, where the target reads whole ones alone",
  injected_context: "what the source's harness told its model of the surroundings; the target tells its own",
  missing_history: "what a session that is not stored said before this one went on from it",
  model_settings: "settings of a model that the target has no word for",
  opaque: "something that only the source understands",
  reasoning: "reasoning, left out as asked",
  reasoning_as_text: "reasoning, said as text",
  sealed_reasoning: "reasoning that only its provider can read",
  stray_result: "a result without the call that it answers",
  subagent: "a session of a sub-agent",
  system_message: "a message of the system",
  tool_params: "parameters of a tool call that the target's tool does not take",
  unanswered_call: "a call that nothing answered, which the target does not send",
} as const satisfies Record<string, string>

export type LossKind = keyof typeof LOSSES

export function loss(kind: LossKind, messageId: string, found: string = LOSSES[kind]): Loss {
  return { kind, messageId, found }
}
