/** What every file of this folder has to know of Grok's files and updates. */
export const BRAND = { id: "grok", title: "Grok Build" }

export const SUMMARY = "summary.json"
export const UPDATES = "updates.jsonl"
export const HISTORY = "chat_history.jsonl"

export function isHistory(relativePath: string): boolean {
  return relativePath === HISTORY || relativePath.endsWith(`/${HISTORY}`)
}

/** Where the name of a tool stands: titles are for people. */
export const TOOL = "x.ai/tool"

/** Where pond says what kind of text a harness put in a person's place, in what it writes of another client's session. */
export const INJECTED = "pond.injected"

/** What the client sums up what was said with. What was said before is not sent any more. */
export const COMPACTED: ReadonlySet<string | undefined> = new Set(["compaction_checkpoint", "auto_compact_completed"])

/** The name of the folder of a directory: all but what a URL leaves as it is in bytes, each with a percent sign. */
export function groupOf(cwd: string): string {
  return encodeURIComponent(cwd.toWellFormed()).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
