/** What is known of Antigravity's steps in Protocol Buffers, by the numbers of their fields: no schema is published. */
import { listed, named, type WireSchema } from "../shared/wire-message.ts"

const CALL: WireSchema = { 1: named("id"), 2: named("name"), 3: named("arguments") }

const USAGE: WireSchema = {
  1: named("model", "number"),
  2: named("input", "number"),
  3: named("output", "number"),
  4: named("cache_write", "number"),
  5: named("cache_read", "number"),
  9: named("thinking", "number"),
  10: named("response", "number"),
}

const METADATA: WireSchema = {
  1: named("created_at", "moment"),
  3: named("source", "number"),
  4: named("tool_call", CALL),
  9: named("usage", USAGE),
  12: named("execution_id"),
  20: named("trajectory", { 1: named("id") }),
}

const TEXT: WireSchema = { 1: named("text") }

const USER_INPUT: WireSchema = {
  1: named("query"),
  2: named("user_response"),
  3: listed("items", TEXT),
  5: listed("images", { 1: named("base64"), 2: named("mime_type"), 4: named("uri") }),
  9: listed("media", { 1: named("mime_type"), 2: named("data", "bytes"), 5: named("uri") }),
}

const PLANNER: WireSchema = { 1: named("text"), 3: named("thinking"), 7: listed("tool_calls", CALL) }

export const STEP: WireSchema = {
  1: named("type", "number"),
  4: named("status", "number"),
  5: named("metadata", METADATA),
  19: named("user_input", USER_INPUT),
  20: named("planner_response", PLANNER),
  24: named("error_message", { 3: named("error", { 1: named("text"), 2: named("full"), 3: named("short") }) }),
  28: named("run_command", { 4: named("stdout"), 21: named("output", { 1: named("full"), 2: named("truncated") }) }),
  34: named("find", { 8: named("error"), 11: named("output") }),
  103: named("ephemeral", TEXT),
  111: named("history", TEXT),
  114: named("system", TEXT),
  116: named("agency", {
    4: listed("responses", { 1: named("type_url"), 2: named("value", { 1: named("name"), 2: named("json") }) }),
  }),
  140: named("generic", { 2: named("result", TEXT) }),
}

/** The blob `main` of the metadata of a conversation. */
export const ABOUT: WireSchema = {
  1: listed("folders", { 1: named("uri") }),
  2: named("created_at", "moment"),
  4: named("agent", { 1: named("name") }),
  5: named("parent_conversation"),
  6: named("root_conversation"),
  7: listed("workspaces"),
  17: named("depth", "number"),
  18: named("project"),
}

export const REFERENCE: WireSchema = {
  1: named("trajectory"),
  2: named("step", "number"),
  5: named("type", "number"),
  6: named("conversation"),
}

/** Kinds of steps in which the program speaks. */
export const SYSTEM_KINDS = new Set([90, 98, 101])
