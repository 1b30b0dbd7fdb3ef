/**
 * Tells text that opencode inserted from text that somebody said. opencode marks its own: `synthetic` is sent to the model
 * as text of the user, `ignored` is shown to the user alone. How it begins tells its kind.
 */
import type { Provenance } from "../../model/session.ts"
import { type Placed, splitAt, stringUnder } from "../extract.ts"
import { fieldsOf } from "../source-value.ts"
import { infoAt, type MessageView, type PartView, partAt } from "./records.ts"

export interface Span {
  readonly text: Placed<string>
  readonly provenance: Provenance
  /** The kind of injected text, for later readers. */
  readonly pond?: { readonly injected: string }
}

/** The first that matches names the kind. */
const KINDS: readonly (readonly [kind: string, opening: RegExp])[] = [
  [
    "file-read",
    /^(?:Called the \w+ tool with the following input|Read tool failed to read|<path>|<file>|Image read successfully|PDF read successfully)/,
  ],
  ["mcp-resource", /^(?:Reading MCP resource|Failed to read MCP resource|\[Binary MCP resource)/],
  ["system-reminder", /^\s*<system-reminder>/],
  ["agent-call", /^\s*Use the above message and context to generate a prompt and call the task tool/],
  ["user-shell", /^The following tool was executed by the user/],
  ["task-result", /^(?:<task\b|Summarize the task tool output above and continue)/],
  ["compaction-continue", /^Continue (?:if you have next steps|with your (?:current )?task)/],
]

/** A remark that a person made on lines of a file: the client's words end where the person's begin. */
const COMMENT =
  /^The user made the following comment regarding (?:this file|line \d+|lines \d+ through \d+) of .+?: (?=[\s\S])/

/** The text of a part, in pieces that are either said or injected: together they are the whole text. */
export function spansOf(view: MessageView, part: PartView): readonly Span[] {
  const text = stringUnder(part.spot, "text")
  if (text === undefined) return []
  if (partAt(part, "ignored") === true) return [injected(text, "ignored")]
  if (partAt(part, "synthetic") === true) return syntheticSpans(part, text)
  // The summary that a compaction leaves behind speaks for the client, in the assistant's slot.
  if (infoAt(view, "summary") === true) return [injected(text, "compact-summary")]
  return [{ text, provenance: "conversational" }]
}

function syntheticSpans(part: PartView, text: Placed<string>): Span[] {
  const metadata = fieldsOf(partAt(part, "metadata"))
  const start = authoredFrom(fieldsOf(metadata["opencodeComment"])["comment"], text.value)
  if (start !== undefined) {
    const [words, comment] = splitAt(text, [start])
    if (words !== undefined && comment !== undefined)
      return [injected(words, "comment-frame"), { text: comment, provenance: "conversational" }]
  }
  if (metadata["compaction_continue"] === true) return [injected(text, "compaction-continue")]
  // What the person's editor shows at the moment, sent along unasked.
  if (metadata["kind"] === "editor_context") return [injected(text, "ide")]
  return [injected(text, KINDS.find(([, opening]) => opening.test(text.value))?.[0] ?? "synthetic")]
}

/** Where a person's remark begins: by what the client noted of it, or by the words in front of it. */
function authoredFrom(comment: unknown, text: string): number | undefined {
  const frame = COMMENT.exec(text)?.[0]
  if (frame === undefined) return undefined
  if (typeof comment === "string" && comment !== "" && text.endsWith(comment)) return text.length - comment.length
  return frame.length
}

function injected(text: Placed<string>, kind: string): Span {
  return { text, provenance: "injected", pond: { injected: kind } }
}
