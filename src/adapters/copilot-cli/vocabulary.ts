/** The tools of Copilot that other clients know too. */
import type { JsonValue } from "../../model/json.ts"
import { type Conversion, type Fold, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

/** `view_range` is the first and the last line; -1 stands for the end of the file. */
const viewRange: Fold = {
  keys: ["view_range"],
  fields: ["offset", "limit"],
  read({ view_range: range }) {
    if (range === undefined) return {}
    const [first, last] = Array.isArray(range) ? range : []
    if (typeof first !== "number" || typeof last !== "number") return undefined
    return last < first ? { offset: first } : { offset: first, limit: last - first + 1 }
  },
  write({ offset = 1, limit }) {
    if (offset === 1 && limit === undefined) return {}
    if (typeof offset !== "number") return undefined
    const last = typeof limit === "number" ? offset + limit - 1 : -1
    return { view_range: [offset, last] }
  },
}

const search = { pattern: "pattern", glob: "glob", ignoreCase: "-i", limit: "head_limit", context: "-C" }

/** The paths of a search are one text, or several. Several have no equal elsewhere. */
const onlyPath: Conversion = {
  read: (value: JsonValue) => (typeof value === "string" ? value : undefined),
  write: (value: JsonValue) => value,
}

const mode: Conversion = {
  read: (value: JsonValue) => (value === "async" || value === "sync" ? value === "async" : undefined),
  write: (value: JsonValue) => (value === true ? "async" : "sync"),
}

export const vocabulary: Vocabulary = [
  {
    name: "bash",
    kind: "shell",
    keys: { command: "command", purpose: "description", isBackground: ["mode", mode] },
  },
  { name: "powershell", kind: "shell", keys: { command: "command", purpose: "description" }, isRetired: true },
  { name: "view", kind: "read", keys: { path: "path" }, fold: viewRange },
  { name: "view", kind: "view_image", keys: { path: "path" } },
  { name: "view", kind: "list", keys: { path: "path" } },
  { name: "create", kind: "write", keys: { path: "path", content: "file_text" } },
  { name: "edit", kind: "edit", keys: { path: "path" }, fold: singleEdit({ old: "old_str", new: "new_str" }) },
  {
    name: "str_replace_editor",
    kind: "edit",
    keys: { path: "path" },
    fold: singleEdit({ old: "old_str", new: "new_str" }),
    isRetired: true,
  },
  { name: "str_replace_editor", kind: "write", keys: { path: "path", content: "file_text" }, isRetired: true },
  { name: "str_replace_editor", kind: "read", keys: { path: "path" }, fold: viewRange, isRetired: true },
  { name: "apply_patch", kind: "patch", keys: {}, text: "patch" },
  { name: "grep", kind: "grep", keys: { ...search, path: ["paths", onlyPath] } },
  { name: "grep", kind: "grep", keys: { ...search, path: "path" }, isRetired: true },
  { name: "glob", kind: "glob", keys: { pattern: "pattern", path: "path" } },
  { name: "web_fetch", kind: "fetch", keys: { url: "url" } },
  { name: "web_search", kind: "web_search", keys: { query: "query" } },
  { name: "task", kind: "task", keys: { purpose: "description", prompt: "prompt", agent: "agent_type" } },
]
