/** The tools of Cline and its kin that other clients know too. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { type Conversion, type Fold, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

/** A list of one thing. Several have no equal elsewhere. */
const only: Conversion = {
  read: (value) => (Array.isArray(value) && value.length === 1 ? (value[0] as JsonValue) : undefined),
  write: (value) => [value],
}

/** `files` of one file, from its first to its last line. */
const oneFile: Fold = {
  keys: ["files"],
  fields: ["path", "offset", "limit"],
  read({ files }) {
    const [file, ...more] = Array.isArray(files) ? (files as readonly JsonValue[]) : []
    if (!isJsonObject(file ?? null) || more.length > 0) return undefined
    const { path, start_line: first, end_line: last } = file as JsonObject
    if (typeof path !== "string") return undefined
    const offset = typeof first === "number" ? { offset: first } : {}
    const limit = typeof last === "number" ? { limit: last - (typeof first === "number" ? first : 1) + 1 } : {}
    return { path, ...offset, ...limit }
  },
  write({ path, offset, limit }) {
    if (typeof path !== "string") return undefined
    const first = typeof offset === "number" ? offset : 1
    const lines = typeof limit === "number" ? { start_line: first, end_line: first + limit - 1 } : {}
    return { files: [{ path, ...(typeof offset === "number" ? { start_line: offset } : {}), ...lines }] }
  },
}

const oneRequest: Fold = {
  keys: ["requests"],
  fields: ["url", "prompt"],
  read({ requests }) {
    const [request, ...more] = Array.isArray(requests) ? (requests as readonly JsonValue[]) : []
    if (!isJsonObject(request ?? null) || more.length > 0) return undefined
    const { url, prompt } = request as JsonObject
    return typeof url === "string" ? { url, ...(typeof prompt === "string" ? { prompt } : {}) } : undefined
  },
  write: ({ url, prompt }) => ({ requests: [{ url: url ?? "", ...(prompt === undefined ? {} : { prompt }) }] }),
}

export const vocabulary: Vocabulary = [
  { name: "run_commands", kind: "shell", keys: { command: ["commands", only] } },
  { name: "execute_command", kind: "shell", keys: { command: "command" }, isRetired: true },
  { name: "read_files", kind: "read", keys: {}, fold: oneFile },
  { name: "read_file", kind: "read", keys: { path: "path" }, isRetired: true },
  {
    name: "editor",
    kind: "edit",
    keys: { path: "path" },
    fold: singleEdit({ old: "old_text", new: "new_text" }),
  },
  { name: "editor", kind: "write", keys: { path: "path", content: "new_text" } },
  { name: "write_to_file", kind: "write", keys: { path: "path", content: "content" }, isRetired: true },
  { name: "apply_patch", kind: "patch", keys: { patch: "input" } },
  { name: "search_codebase", kind: "grep", keys: { pattern: ["queries", only] } },
  {
    name: "search_files",
    kind: "grep",
    keys: { pattern: "regex", path: "path", glob: "file_pattern" },
    isRetired: true,
  },
  { name: "list_files", kind: "list", keys: { path: "path" }, isRetired: true },
  { name: "fetch_web_content", kind: "fetch", keys: {}, fold: oneRequest },
  { name: "web_fetch", kind: "fetch", keys: { url: "url" }, isRetired: true },
  { name: "web_search", kind: "web_search", keys: { query: "query" }, isRetired: true },
  { name: "spawn_agent", kind: "task", keys: { prompt: "task" } },
  { name: "new_task", kind: "task", keys: { prompt: "message", agent: "mode" }, isRetired: true },
]
