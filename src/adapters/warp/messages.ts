/** What is known of Warp's messages in Protocol Buffers, by the numbers of their fields. */
import { chosen, listed, named, type WireSchema } from "../shared/wire-message.ts"

const ATTACHED: WireSchema = {
  1: named("directory", { 1: named("pwd"), 2: named("home") }),
  4: named("current_time", "moment"),
  7: listed("images", { 1: named("data", "bytes"), 2: named("mime_type") }),
}

const DIFFS: WireSchema = {
  1: named("summary"),
  2: listed("diffs", { 1: named("file_path"), 2: named("search"), 3: named("replace") }),
  3: listed("new_files", { 1: named("file_path"), 2: named("content") }),
}

const tool = (name: string, kind: WireSchema) => chosen("tool", name, kind)

const CALL: WireSchema = {
  1: named("id"),
  2: tool("run_shell_command", { 1: named("command") }),
  3: tool("search_codebase", { 1: named("query") }),
  4: tool("server", {}),
  5: tool("read_files", { 1: listed("files", { 1: named("name") }) }),
  6: tool("apply_file_diffs", DIFFS),
  9: tool("grep", { 1: listed("queries"), 2: named("path") }),
  11: tool("read_mcp_resource", { 1: named("uri") }),
  12: tool("call_mcp_tool", { 1: named("name"), 2: named("args", "struct") }),
  13: tool("write_to_long_running_shell_command", {}),
  15: tool("file_glob", { 1: listed("patterns"), 2: named("search_dir") }),
  19: tool("subagent", { 1: named("task_id"), 2: named("payload") }),
  20: tool("read_documents", {}),
  21: tool("edit_documents", {}),
  22: tool("create_documents", {}),
  23: tool("read_shell_command_output", {}),
  24: tool("use_computer", {}),
  26: tool("read_skill", {}),
  28: tool("fetch_conversation", {}),
  29: tool("start_agent", { 1: named("name"), 2: named("prompt") }),
  30: tool("send_message_to_agent", {}),
}

const result = (name: string, kind: WireSchema) => chosen("result", name, kind)

const RESULT: WireSchema = {
  1: named("id"),
  2: result("run_shell_command", {
    1: named("output_before"),
    2: named("exit_code_before", "number"),
    3: named("command"),
    5: named("finished", { 1: named("output"), 2: named("exit_code", "number"), 3: named("command_id") }),
  }),
  3: result("search_codebase", {}),
  4: result("server", {}),
  5: result("read_files", {}),
  6: result("apply_file_diffs", {}),
  9: result("grep", {}),
  11: named("context", ATTACHED),
  14: result("cancel", {}),
  16: result("call_mcp_tool", {
    1: named("success", { 1: listed("results", { 1: named("text", { 1: named("text") }) }) }),
    2: named("error", { 1: named("message") }),
  }),
  19: result("file_glob", {}),
  23: result("subagent", {}),
  33: result("start_agent", { 1: named("success", { 1: named("agent_id") }) }),
}

const QUERIED: WireSchema = { 1: named("query") }

/** Prompts that the program made. */
const SYSTEM_QUERY: WireSchema = {
  1: named("auto_code_diff", QUERIED),
  3: named("resume_conversation", {}),
  4: named("passive_suggestions", {}),
  5: named("create_project", QUERIED),
  6: named("clone_repository", {}),
  7: named("summarize", {}),
  8: named("fetch_review_comments", {}),
}

const MESSAGE: WireSchema = {
  1: named("id"),
  2: named("user_query", { 1: named("query"), 2: named("context", ATTACHED) }),
  3: named("agent_output", { 1: named("text") }),
  4: named("tool_call", CALL),
  5: named("tool_call_result", RESULT),
  6: named("server_event", "unread"),
  8: listed("citations", "unread"),
  9: named("system_query", SYSTEM_QUERY),
  10: named("update_todos", "unread"),
  11: named("task_id"),
  13: named("request_id"),
  14: named("timestamp", "moment"),
  15: named("agent_reasoning", { 1: named("reasoning") }),
  16: named("summarization", {
    1: named("conversation_summary", { 1: named("summary"), 2: named("tokens", "number") }),
  }),
  23: named("invoke_skill", { 2: named("user_query", { 1: named("query"), 2: named("context", ATTACHED) }) }),
  25: named("model_used", { 1: named("model_id"), 2: named("model_name"), 3: named("is_fallback", "flag") }),
}

/** A conversation has one, and one for each agent that it started. */
export const TASK: WireSchema = {
  1: named("id"),
  2: named("description"),
  3: named("dependencies", { 1: named("parent_task_id") }),
  5: listed("messages", MESSAGE),
  6: named("summary"),
}

/** Fields of a message that are told from their numbers alone, and are no part of what was said. */
export const SILENT = new Set([6, 7, 8, 10, 17, 19, 20, 21, 22, 24, 26])
