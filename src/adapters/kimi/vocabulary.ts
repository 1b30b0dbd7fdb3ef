/** The tools of Kimi Code and kimi-cli that other clients know too. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import { type Conversion, type Fold, listOf, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

/** A call waits so many seconds. */
const seconds: Conversion = {
  read: (value: JsonValue) => (typeof value === "number" ? value * 1000 : undefined),
  write: (value: JsonValue) => (typeof value === "number" ? Math.max(1, Math.round(value / 1000)) : undefined),
}

const listed = listOf(["text", "title"], ["status", "status"])

/** What is done is `done` here. */
const todoItems: Conversion = {
  read: (value) => renamed(listed.read(value), "done", "completed"),
  write: (value) => listed.write(renamed(value, "completed", "done") ?? null),
}

function renamed(items: JsonValue | undefined, from: string, to: string): JsonValue | undefined {
  if (!Array.isArray(items)) return undefined
  return items.map((item: JsonValue) =>
    isJsonObject(item) && item["status"] === from ? { ...item, status: to } : item,
  )
}

/** kimi-cli: one edit, or a list of them, under one key. */
const edits: Fold = {
  keys: ["edit"],
  fields: ["edits"],
  read({ edit }) {
    const all = Array.isArray(edit) ? edit : [edit ?? null]
    const read = all.map((each: JsonValue) =>
      isJsonObject(each) && typeof each["old"] === "string" && typeof each["new"] === "string"
        ? {
            old: each["old"],
            new: each["new"],
            ...(typeof each["replace_all"] === "boolean" ? { all: each["replace_all"] } : {}),
          }
        : undefined,
    )
    return read.some((each) => each === undefined) ? undefined : { edits: read as JsonValue[] }
  },
  write: () => undefined,
}

const shell = {
  command: "command",
  purpose: "description",
  timeoutMs: ["timeout", seconds] as const,
  isBackground: "run_in_background",
}
const search = { pattern: "pattern", path: "path", glob: "glob", ignoreCase: "-i", limit: "head_limit" }
const task = { purpose: "description", prompt: "prompt", agent: "subagent_type", isBackground: "run_in_background" }

export const vocabulary: Vocabulary = [
  { name: "Bash", kind: "shell", keys: { ...shell, directory: "cwd" } },
  { name: "Shell", kind: "shell", keys: shell, isRetired: true },
  { name: "CMD", kind: "shell", keys: shell, isRetired: true },
  { name: "Read", kind: "read", keys: { path: "path", offset: "line_offset", limit: "n_lines" } },
  { name: "ReadFile", kind: "read", keys: { path: "path", offset: "line_offset", limit: "n_lines" }, isRetired: true },
  { name: "ReadMediaFile", kind: "view_image", keys: { path: "path" } },
  { name: "Write", kind: "write", keys: { path: "path", content: "content" } },
  { name: "WriteFile", kind: "write", keys: { path: "path", content: "content" }, isRetired: true },
  {
    name: "Edit",
    kind: "edit",
    keys: { path: "path" },
    fold: singleEdit({ old: "old_string", new: "new_string", all: "replace_all" }),
  },
  { name: "StrReplaceFile", kind: "edit", keys: { path: "path" }, fold: edits, isRetired: true },
  { name: "Grep", kind: "grep", keys: search },
  { name: "Glob", kind: "glob", keys: { pattern: "pattern", path: "path" } },
  { name: "Glob", kind: "glob", keys: { pattern: "pattern", path: "directory" }, isRetired: true },
  { name: "FetchURL", kind: "fetch", keys: { url: "url" } },
  { name: "WebSearch", kind: "web_search", keys: { query: "query" } },
  { name: "SearchWeb", kind: "web_search", keys: { query: "query", limit: "limit" }, isRetired: true },
  { name: "TodoList", kind: "todo", keys: { items: ["todos", todoItems] } },
  { name: "SetTodoList", kind: "todo", keys: { items: ["todos", todoItems] }, isRetired: true },
  { name: "Agent", kind: "task", keys: task },
  { name: "Task", kind: "task", keys: task, isRetired: true },
]
