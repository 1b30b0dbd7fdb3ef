/** The kinds of events that a log of Copilot holds beside messages. Others are kept as well, and said aloud. */

/** Whole families: bookkeeping of the client that grows with each version. */
const FAMILIES: ReadonlySet<string> = new Set([
  ...["auto_mode_switch", "canvas", "capabilities", "command", "commands", "elicitation", "exit_plan_mode"],
  ...["external_tool", "fusion", "hook", "human_response", "mcp", "mcp_app", "model", "pending_messages"],
  ...["permission", "sampling", "session_limits_exhausted", "skill", "subagent", "tool_search", "ui", "user_input"],
  ...["workflow"],
])

const KINDS: ReadonlySet<string> = new Set([
  ...["abort", "assistant.idle", "assistant.intent", "assistant.message", "assistant.reasoning", "assistant.usage"],
  ...["assistant.turn_end", "assistant.turn_start", "system.message", "system.notification"],
  ...["tool.execution_complete", "tool.execution_start", "tool.shell_output", "tool.user_requested", "user.message"],
  ...["session.auto_mode_resolved", "session.auto_tier_recommendation", "session.auto_tier_switch_failed"],
  ...["session.autopilot_objective_changed", "session.autopilot_stopped", "session.background_tasks_changed"],
  ...["session.binary_asset", "session.compaction_complete", "session.compaction_start", "session.completion_receipt"],
  ...["session.context_changed", "session.context_cleared", "session.custom_agents_updated"],
  ...["session.custom_notification", "session.error", "session.handoff", "session.idle", "session.import_legacy"],
  ...["session.indexed_search", "session.info", "session.managed_settings_enforced"],
  ...["session.managed_settings_resolved", "session.mode_changed", "session.mode_notice_delivered"],
  ...["session.model_change", "session.model_deselected", "session.permission_recovery"],
  ...["session.permissions_changed", "session.plan_changed", "session.quota_observation"],
  ...["session.remote_steerable_changed", "session.resume", "session.schedule_cancelled"],
  ...["session.schedule_created", "session.schedule_rearmed", "session.session_limits_changed"],
  ...["session.shutdown", "session.skills_loaded", "session.snapshot_rewind", "session.start", "session.task_complete"],
  ...["session.title_changed", "session.todos_changed", "session.tools_updated", "session.truncation"],
  ...["session.usage_checkpoint", "session.usage_info", "session.usage_record", "session.warning"],
  ...["session.workspace_file_changed"],
])

/** Families inside `session.` and `assistant.`, by how the rest of the name begins. */
const INNER = /^(?:session\.(?:canvas|extensions|fusion|mcp)|assistant\.fusion)[._]/

export function isKnownKind(type: string): boolean {
  return KINDS.has(type) || FAMILIES.has(type.slice(0, Math.max(0, type.indexOf(".")))) || INNER.test(type)
}
