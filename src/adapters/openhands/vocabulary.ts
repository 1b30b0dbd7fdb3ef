/** The tools of OpenHands that other clients know too. */
import { type Fold, listOf, seconds, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

/** One tool does several things: a parameter says which. */
function commanded(command: string, inner: Fold): Fold {
  return {
    keys: ["command", ...inner.keys],
    fields: inner.fields,
    read: (params) => (params["command"] === command ? inner.read(params) : undefined),
    write: (fields) => {
      const written = inner.write(fields)
      return written && { command, ...written }
    },
  }
}

/** Lines from the first to the last. */
const range: Fold = {
  keys: ["view_range"],
  fields: ["offset", "limit"],
  read: ({ view_range: lines }) => {
    const [first, last] = Array.isArray(lines) ? lines : []
    if (typeof first !== "number") return {}
    return typeof last === "number" && last >= first ? { offset: first, limit: last - first + 1 } : { offset: first }
  },
  write: ({ offset, limit }) => {
    if (typeof offset !== "number" && typeof limit !== "number") return {}
    const first = typeof offset === "number" ? offset : 1
    return { view_range: [first, typeof limit === "number" ? first + limit - 1 : -1] }
  },
}

const text: Fold = {
  keys: ["file_text"],
  fields: ["content"],
  read: ({ file_text: content }) => (typeof content === "string" ? { content } : undefined),
  write: ({ content }) => (typeof content === "string" ? { file_text: content } : undefined),
}

const edit = singleEdit({ old: "old_str", new: "new_str" })

export const vocabulary: Vocabulary = [
  { name: "terminal", kind: "shell", keys: { command: "command", timeoutMs: ["timeout", seconds] } },
  {
    name: "execute_bash",
    kind: "shell",
    keys: { command: "command", timeoutMs: ["timeout", seconds] },
    isRetired: true,
  },
  { name: "file_editor", kind: "read", keys: { path: "path" }, fold: commanded("view", range) },
  { name: "file_editor", kind: "write", keys: { path: "path" }, fold: commanded("create", text) },
  { name: "file_editor", kind: "edit", keys: { path: "path" }, fold: commanded("str_replace", edit) },
  { name: "str_replace_editor", kind: "read", keys: { path: "path" }, fold: commanded("view", range), isRetired: true },
  {
    name: "str_replace_editor",
    kind: "write",
    keys: { path: "path" },
    fold: commanded("create", text),
    isRetired: true,
  },
  {
    name: "str_replace_editor",
    kind: "edit",
    keys: { path: "path" },
    fold: commanded("str_replace", edit),
    isRetired: true,
  },
  { name: "apply_patch", kind: "patch", keys: { patch: "patch" } },
  { name: "grep", kind: "grep", keys: { pattern: "pattern", path: "path", glob: "include" } },
  { name: "glob", kind: "glob", keys: { pattern: "pattern", path: "path" } },
  { name: "task", kind: "task", keys: { prompt: "prompt", purpose: "description", agent: "subagent_type" } },
  {
    name: "task_tracker",
    kind: "todo",
    keys: { items: ["task_list", listOf(["text", "title"], ["status", "status"])] },
    fold: commanded("plan", { keys: [], fields: [], read: () => ({}), write: () => ({}) }),
  },
]
