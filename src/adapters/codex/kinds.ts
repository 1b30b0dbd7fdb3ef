/**
 * The records that this adapter understands, from the files of versions 0.40 to 0.169 and from the client's own source.
 * Whatever is not named here is kept whole all the same, and named in an issue.
 */

/** Records of an enveloped rollout: `{timestamp, type, payload}`. */
const RECORDS: ReadonlySet<string> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
  "world_state",
  "token_usage_record",
  "inter_agent_communication",
  "inter_agent_communication_metadata",
  "security_risk_score",
  "retained_context",
  "realtime_item",
])

/** Items of the model's history, enveloped or bare. */
const ITEMS: ReadonlySet<string> = new Set([
  "message",
  "agent_message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "local_shell_call_output",
  "web_search_call",
  "image_generation_call",
  "tool_search_call",
  "tool_search_output",
  "additional_tools",
  "ghost_snapshot",
  "compaction",
  "compaction_summary",
  "context_compaction",
])

const EVENTS: ReadonlySet<string> = new Set([
  "agent_message",
  "agent_reasoning",
  "agent_reasoning_raw_content",
  "collab_agent_interaction_end",
  "collab_agent_spawn_end",
  "collab_close_end",
  "collab_resume_end",
  "collab_waiting_end",
  "context_compacted",
  "dynamic_tool_call_request",
  "dynamic_tool_call_response",
  "entered_review_mode",
  "error",
  "exec_command_end",
  "exited_review_mode",
  "guardian_assessment",
  "image_generation_end",
  "item_completed",
  "mcp_tool_call_end",
  "patch_apply_end",
  "sub_agent_activity",
  "task_complete",
  "task_started",
  "thread_goal_updated",
  "thread_name_updated",
  "thread_rolled_back",
  "thread_settings_applied",
  "token_count",
  "turn_aborted",
  "turn_complete",
  "turn_started",
  "undo_completed",
  "user_message",
  "view_image_tool_call",
  "warning",
  "web_search_end",
])

/** Names the unknown kind of a record; undefined where its kind is known. */
export function unknownKind(type: unknown, payloadType: unknown): string | undefined {
  if (typeof type !== "string") return "a record without a type"
  if (ITEMS.has(type)) return undefined
  if (!RECORDS.has(type)) return named(type)
  if (type !== "response_item" && type !== "event_msg") return undefined
  const known = type === "response_item" ? ITEMS : EVENTS
  return typeof payloadType === "string" && known.has(payloadType) ? undefined : `${type}: ${named(payloadType)}`
}

function named(type: unknown): string {
  return typeof type === "string" ? type.slice(0, 60) : "no type"
}
