/** The tools of Hermes that other clients know too. */
import { listOf, seconds, singleEdit, type ToolRow, type Vocabulary } from "../shared/vocabulary.ts"

const todoItems = listOf(["text", "content"], ["status", "status"], ["id", "id"])

/** One tool does two things: a parameter says which. */
function moded(key: string, mode: string, inner: NonNullable<ToolRow["fold"]>): NonNullable<ToolRow["fold"]> {
  return {
    keys: [key, ...inner.keys],
    fields: inner.fields,
    read: (params) => ((params[key] ?? "replace") === mode ? inner.read(params) : undefined),
    write: (fields) => {
      const written = inner.write(fields)
      return written && { [key]: mode, ...written }
    },
  }
}

const patchText: NonNullable<ToolRow["fold"]> = {
  keys: ["patch"],
  fields: ["patch"],
  read: ({ patch }) => (typeof patch === "string" ? { patch } : undefined),
  write: ({ patch }) => (typeof patch === "string" ? { patch } : undefined),
}

function searching(target: string, isDefault: boolean): NonNullable<ToolRow["fold"]> {
  return {
    keys: ["target", "pattern"],
    fields: ["pattern"],
    read: ({ target: given, pattern }) =>
      (given ?? (isDefault ? target : undefined)) === target && typeof pattern === "string" ? { pattern } : undefined,
    write: ({ pattern }) => (typeof pattern === "string" ? { target, pattern } : undefined),
  }
}

export const vocabulary: Vocabulary = [
  {
    name: "terminal",
    kind: "shell",
    keys: { command: "command", directory: "workdir", timeoutMs: ["timeout", seconds], isBackground: "background" },
  },
  { name: "read_file", kind: "read", keys: { path: "path", offset: "offset", limit: "limit" } },
  { name: "write_file", kind: "write", keys: { path: "path", content: "content" } },
  {
    name: "patch",
    kind: "edit",
    keys: { path: "path" },
    fold: moded("mode", "replace", singleEdit({ old: "old_string", new: "new_string", all: "replace_all" })),
  },
  { name: "patch", kind: "patch", keys: {}, fold: moded("mode", "patch", patchText) },
  {
    name: "search_files",
    kind: "grep",
    keys: { path: "path", glob: "file_glob", limit: "limit" },
    fold: searching("content", true),
  },
  { name: "search_files", kind: "glob", keys: { path: "path", limit: "limit" }, fold: searching("files", false) },
  { name: "web_search", kind: "web_search", keys: { query: "query", limit: "limit" } },
  { name: "todo", kind: "todo", keys: { items: ["todos", todoItems] } },
  { name: "delegate_task", kind: "task", keys: { prompt: "goal", purpose: "context", isBackground: "background" } },
]
