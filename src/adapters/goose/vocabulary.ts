/** The tools of Goose that other clients know too: bare names since 1.5x, of an extension before. */
import { singleEdit, type ToolRow, type Vocabulary } from "../shared/vocabulary.ts"

const NOTHING: NonNullable<ToolRow["fold"]> = { keys: [], fields: [], read: () => ({}), write: () => ({}) }

/** One tool of before did several things: a parameter says which. */
function commanded(command: string, inner: NonNullable<ToolRow["fold"]> = NOTHING): NonNullable<ToolRow["fold"]> {
  return {
    keys: ["command", ...inner.keys],
    fields: inner.fields,
    read: (params) => (params["command"] === command ? inner.read(params) : undefined),
    write: () => undefined,
  }
}

const EDITOR = { name: "developer__text_editor", isRetired: true } as const

export const vocabulary: Vocabulary = [
  { name: "shell", kind: "shell", keys: { command: "command", timeoutMs: "timeout_ms" } },
  { name: "developer__shell", kind: "shell", keys: { command: "command" }, isRetired: true },
  { name: "write", kind: "write", keys: { path: "path", content: "content" } },
  {
    name: "edit",
    kind: "edit",
    keys: { path: "path" },
    fold: singleEdit({ old: "before", new: "after" }),
  },
  { ...EDITOR, kind: "read", keys: { path: "path" }, fold: commanded("view") },
  { ...EDITOR, kind: "write", keys: { path: "path", content: "file_text" }, fold: commanded("write") },
  {
    ...EDITOR,
    kind: "edit",
    keys: { path: "path" },
    fold: commanded("str_replace", singleEdit({ old: "old_str", new: "new_str" })),
  },
  { name: "read_image", kind: "view_image", keys: { path: "path" } },
  { name: "tree", kind: "list", keys: { path: "path" } },
  { name: "delegate", kind: "task", keys: { prompt: "instructions" } },
]
