/** What `pond get` takes. */
import { flag } from "../flags.ts"

export const GET_FLAGS = {
  mode: flag.choice("Of a session: what was said, every message, or everything.", [
    "conversational",
    "complete",
    "verbatim",
  ]),
  from: flag.choice("Which end of the session to read.", ["start", "end"]),
  limit: flag.wholeNumber("How many messages, or parts of a message.", { min: 1, max: 1000 }),
  after: flag.text("Go on behind this message, or this part.", "ID"),
  context: flag.wholeNumber("How many neighbours of a message on each side.", { min: 0, max: 50 }),
  session: flag.text("Which session the message is of, where several have one of its id.", "ID", { words: "sessions" }),
  tree: flag.onOff("Of a session: the sessions below it, however deep, and no messages."),
  raw: flag.onOff("Of a message: the record that it was read from, as its client wrote it."),
  format: flag.choice("md: a whole session as one Markdown document, to share.", ["text", "md"]),
  output: flag.text("Write the Markdown to this file.", "FILE.md", { short: "o" }),
  redact: flag.onOff("In Markdown: replace what looks like a credential, and say how many of which kind."),
  "include-subagents": flag.onOff("In Markdown: the sessions that it started, behind it."),
  force: flag.onOff("Write over a file that is there."),
}
export type GetFlags = typeof GET_FLAGS
