/**
 * The names that opencode gives its files. Two trees:
 *   since July 2025    storage/session/<project>/<session>.json, storage/message/<session>/<message>.json, storage/part/<message>/<part>.json
 *   before             project/<directory>/storage/session/{info/<session>,message/<session>/<message>,part/<session>/<message>/<part>}.json
 * `auth.json`, `mcp-auth.json`, `storage/share` and `storage/permission` hold secrets or nothing of a session: no name here is theirs.
 */
export type FileKind = "session" | "message" | "part" | "project" | "todo" | "session_diff" | "other"

const KINDS: readonly (readonly [kind: FileKind, pattern: RegExp])[] = [
  ["message", /(?:^|\/)message\/[^/]+\/[^/]+\.json$/],
  ["part", /(?:^|\/)part\/[^/]+\/(?:[^/]+\/)?[^/]+\.json$/],
  ["session_diff", /(?:^|\/)session_diff\/[^/]+\.json$/],
  ["todo", /(?:^|\/)todo\/[^/]+\.json$/],
  ["session", /(?:^|\/)session\/[^/]+\/[^/]+\.json$/],
  ["project", /(?:^|\/)project\/[^/]+\.json$/],
]

export function kindOf(place: string): FileKind {
  return KINDS.find(([, pattern]) => pattern.test(place))?.[0] ?? "other"
}

/** Where the parts of a message lie, by where it lies itself. */
export function partFolderOf(messagePlace: string): string {
  const found = /^(.*?)message\/([^/]+)\/([^/]+)\.json$/.exec(messagePlace)
  const [, before = "", session = "", message = ""] = found ?? []
  return before.endsWith("session/") ? `${before}part/${session}/${message}` : `${before}part/${message}`
}

/** The id in the name of a file. */
export function stemOf(place: string): string {
  return (place.split("/").at(-1) ?? place).replace(/\.json$/, "")
}
