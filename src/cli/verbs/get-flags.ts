/** What `pond get` takes. */
import { flag } from "../flags.ts"

export const GET_FLAGS = {
  mode: flag.choice(
    "Session detail: conversational (only what was said), complete (every message, tool calls in one line) or verbatim (everything). Default: conversational.",
    ["conversational", "complete", "verbatim"],
  ),
  from: flag.choice("Which end of the session to start at (default: start).", ["start", "end"]),
  limit: flag.wholeNumber("Maximum number of messages, or of parts of a message.", { min: 1, max: 1000 }),
  after: flag.text("Continue after this message or part.", "ID"),
  context: flag.wholeNumber("Number of messages to show before and after.", { min: 0, max: 50 }),
  session: flag.text("Session of the message, if the id is ambiguous.", "ID", { words: "sessions" }),
  tree: flag.onOff("List the sub-agent sessions instead of messages."),
  raw: flag.onOff("Show the client's original record of a message."),
  format: flag.choice("md writes a whole session as one Markdown document.", ["text", "md"]),
  output: flag.text("Write a whole session to FILE: .md for Markdown, .txt for text; - is stdout.", "FILE", {
    short: "o",
  }),
  redact: flag.onOff("Markdown: replace text that looks like a credential."),
  "include-subagents": flag.onOff("Markdown: append the sub-agent sessions."),
  force: flag.onOff("Overwrite an existing file."),
}
export type GetFlags = typeof GET_FLAGS
