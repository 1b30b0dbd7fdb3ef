/** The tools of Gemini CLI that other clients know too. */
import type { JsonObject } from "../../model/json.ts"
import { type Conversion, type Fold, listOf, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const todoItems = listOf(["text", "description"], ["status", "status"])

/** The last line that is read, where others say how many. */
const lastLine: Fold = {
  keys: ["start_line", "end_line"],
  fields: ["offset", "limit"],
  read({ start_line: first, end_line: last }) {
    if (first !== undefined && typeof first !== "number") return undefined
    if (last === undefined) return first === undefined ? {} : { offset: first }
    if (typeof last !== "number") return undefined
    return { ...(first === undefined ? {} : { offset: first }), limit: last - (first ?? 1) + 1 }
  },
  write({ offset, limit }) {
    const first = typeof offset === "number" ? offset : undefined
    const start = first === undefined ? {} : { start_line: first }
    return typeof limit === "number" ? { ...start, end_line: (first ?? 1) + limit - 1 } : start
  },
}

/** Lines were counted from zero. */
const fromZero: Conversion = {
  read: (value) => (typeof value === "number" ? value + 1 : undefined),
  write: (value) => (typeof value === "number" ? value - 1 : undefined),
}

/** A parameter of the past: its row reads only calls that have it. */
function once(key: string, field: string): Fold {
  return {
    keys: [key],
    fields: [field],
    read: (params: JsonObject) => (params[key] === undefined ? undefined : { [field]: params[key] }),
    write: () => undefined,
  }
}

/** The address stands somewhere in the prompt. */
const addressInPrompt: Fold = {
  keys: ["prompt"],
  fields: ["url", "prompt"],
  read({ prompt }) {
    const url = typeof prompt === "string" ? /https?:\/\/[^\s"'<>)\]]+/.exec(prompt)?.[0] : undefined
    return url === undefined || prompt === undefined ? undefined : { url, prompt }
  },
  write({ url, prompt }) {
    if (typeof url !== "string") return undefined
    if (typeof prompt !== "string" || prompt === "") return { prompt: url }
    return { prompt: prompt.includes(url) ? prompt : `${prompt}\n${url}` }
  },
}

const shellKeys = { command: "command", purpose: "description", isBackground: "is_background" }
const readKeys = { path: "file_path" }
const grepKeys = { pattern: "pattern", path: "dir_path", glob: "include_pattern", limit: "total_max_matches" }

export const vocabulary: Vocabulary = [
  {
    name: "run_shell_command",
    kind: "shell",
    keys: shellKeys,
    fold: once("directory", "directory"),
    isRetired: true,
  },
  { name: "run_shell_command", kind: "shell", keys: { ...shellKeys, directory: "dir_path" } },
  {
    name: "read_file",
    kind: "read",
    keys: { ...readKeys, limit: "limit" },
    fold: { ...once("offset", "offset"), read: ({ offset }) => numbered(offset) },
    isRetired: true,
  },
  { name: "read_file", kind: "read", keys: readKeys, fold: lastLine },
  {
    name: "read_file",
    kind: "read",
    keys: { path: "absolute_path", offset: ["offset", fromZero], limit: "limit" },
    isRetired: true,
  },
  { name: "read_file", kind: "view_image", keys: readKeys },
  { name: "write_file", kind: "write", keys: { path: "file_path", content: "content" } },
  {
    name: "replace",
    kind: "edit",
    keys: { path: "file_path" },
    fold: singleEdit({ old: "old_string", new: "new_string", all: "allow_multiple" }),
  },
  { name: "grep_search", kind: "grep", keys: grepKeys },
  {
    name: "search_file_content",
    kind: "grep",
    keys: { pattern: "pattern", path: "dir_path", glob: "include" },
    isRetired: true,
  },
  { name: "glob", kind: "glob", keys: { pattern: "pattern", path: "dir_path" } },
  { name: "list_directory", kind: "list", keys: {}, fold: once("path", "path"), isRetired: true },
  { name: "list_directory", kind: "list", keys: { path: "dir_path", ignore: "ignore" } },
  { name: "web_fetch", kind: "fetch", keys: {}, fold: addressInPrompt },
  { name: "google_web_search", kind: "web_search", keys: { query: "query" } },
  { name: "write_todos", kind: "todo", keys: { items: ["todos", todoItems] } },
  { name: "invoke_agent", kind: "task", keys: { prompt: "prompt", agent: "agent_name" } },
]

function numbered(offset: unknown): JsonObject | undefined {
  return typeof offset === "number" ? { offset: offset + 1 } : undefined
}
