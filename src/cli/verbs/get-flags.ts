/** What `pond get` takes. */
import { get } from "../../operations/wire/get.ts"
import { flag } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"

export const getArguments = argumentsFor(get.input, {
  mode: {
    field: ["response_mode"],
    summary:
      "Session detail: conversational (only what was said), complete (every message, tool calls in one line) or verbatim (everything). Default: conversational.",
  },
  from: { field: ["session_from"] },
  limit: { summary: "Maximum number of messages, or of parts of a message." },
  after: { field: ["after_id"], hint: "ID" },
  context: { field: ["context_depth"], summary: "Number of messages to show before and after." },
  session: { field: ["session_id_of_message"], hint: "ID", words: "sessions" },
  tree: { summary: "List the sub-agent sessions instead of messages." },
  raw: { summary: "Show the client's original record of a message." },
  format: flag.choice(
    "A whole session: a document (md, html), a trajectory (atif), spans of OpenTelemetry (otlp), a trace for the Hugging Face Hub (traces).",
    ["text", "md", "html", "atif", "otlp", "traces"],
  ),
  output: flag.text(
    "Write a whole session to FILE: .html, .md, .txt, .json, .atif.json, .otlp.json or .jsonl; - is stdout. Several: a directory.",
    "FILE",
    { short: "o" },
  ),
  project: flag.text("With -o DIR: all sessions of projects whose path contains TEXT, or within a directory.", "TEXT"),
  redact: flag.onOff("Documents and traces: replace text that looks like a credential."),
  "include-subagents": flag.onOff("Markdown: append the sub-agent sessions (HTML folds them in)."),
  force: flag.onOff("Overwrite an existing file."),
})
export type GetFlags = typeof getArguments.flags
