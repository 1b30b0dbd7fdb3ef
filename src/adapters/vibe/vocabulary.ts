/** The tools of Vibe that other clients know too: first those of today, then those of 1.x and 2.x. */
import { type Conversion, listOf, seconds, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const editFold = singleEdit({ old: "old_string", new: "new_string", all: "replace_all" })
const todoItems = listOf(["text", "content"], ["status", "status"], ["id", "id"])
/** It counts lines from 0. */
const fromZero: Conversion = {
  read: (value) => (typeof value === "number" ? value + 1 : undefined),
  write: (value) => (typeof value === "number" ? Math.max(0, value - 1) : undefined),
}

export const vocabulary: Vocabulary = [
  { name: "bash", kind: "shell", keys: { command: "command", timeoutMs: ["timeout_seconds", seconds] } },
  { name: "bash", kind: "shell", keys: { command: "command", timeoutMs: ["timeout", seconds] }, isRetired: true },
  { name: "read_file", kind: "read", keys: { path: "path", offset: ["offset", fromZero], limit: "limit" } },
  {
    name: "read",
    kind: "read",
    keys: { path: "file_path", offset: ["offset", fromZero], limit: "limit" },
    isRetired: true,
  },
  { name: "write_file", kind: "write", keys: { path: "path", content: "content" } },
  { name: "edit", kind: "edit", keys: { path: "file_path" }, fold: editFold },
  { name: "grep", kind: "grep", keys: { pattern: "pattern", path: "path", limit: "max_matches" }, isRetired: true },
  { name: "web_fetch", kind: "fetch", keys: { url: "url" }, isRetired: true },
  { name: "web_search", kind: "web_search", keys: { query: "query" }, isRetired: true },
  {
    name: "todo",
    kind: "todo",
    keys: { items: ["todos", todoItems] },
    fold: { keys: ["action"], fields: [], ...todoFold() },
  },
  { name: "task", kind: "task", keys: { prompt: "task", agent: "agent" }, isRetired: true },
]

/** One tool reads the list or writes it. */
function todoFold(): Pick<NonNullable<Vocabulary[number]["fold"]>, "read" | "write"> {
  return { read: ({ action }) => (action === "write" ? {} : undefined), write: () => ({ action: "write" }) }
}
