/** What a real client is to the harness: how it is started, and where its sessions lie. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Item } from "./model/request.ts"

export interface StoredSession {
  readonly id: string
  readonly file: string
  readonly isAgent: boolean
}

export interface Options {
  /** A picture that goes with the first prompt. */
  readonly image?: string
  readonly args?: readonly string[]
  readonly model?: string
  /** Of pi: which of the scripted model's ways it talks. Of Codex: what a thread calls its provider. */
  readonly provider?: string
}

export interface Client {
  readonly name: string
  readonly version: string
  readonly packages: readonly string[]
  /** From PyPI instead of npm, into its own environment: no wheel, no installation. Names the version of Python that it wants. */
  readonly isPython?: true | "3.12"
  /** It wants exact versions of other packages, which the index may have no more: the newest up to those will do. */
  readonly hasLooseVersions?: true
  /** What its own installation would do behind npm. */
  unpack?(installed: string): void
  /** The words that start it, where it is installed. */
  program(installed: string, node: string): readonly string[]
  /** pond's adapter of it, and the directory that this one calls its root. */
  readonly adapter: string
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  configure(home: string, options: Options): void
  begin(prompt: string, options: Options): readonly string[]
  resume(session: string, prompt: string, options: Options): readonly string[]
  fork(session: string, prompt: string): readonly string[]
  /** Over its server, which goes on with sessions that its command line shows nothing of. */
  served?(session: string, prompt: string): readonly string[]
  /** Sums up what was said, where a command line does. */
  compact?(session: string): readonly string[]
  /** A result without what the client puts around it for its model alone, and does not store in it. */
  withoutAdded?(result: string): string
  /** A result as it stores it, where that is less than it told its model: it sends no more of a session that it resumes. */
  asStored?(result: string): string
  /** It sends each result of a session that it resumes a second time, in the same words. */
  readonly repeatsResults?: true
  /** The words that list its sessions, where it has them. */
  list?(): readonly string[]
  /** The words that go on with the latest session of a directory, where nothing lists them. */
  latest?(prompt: string): readonly string[]
  /** What it says to its model before every session. */
  isOwn?(item: Item): boolean
  /** Its history does not lie where it works here: a session goes on where it was held because it is told so. */
  readonly isApart?: true
  /** It goes by the files that it is named, and lists nothing. */
  readonly hasNoList?: true
  /** Its model calls nothing: of a session with calls it is sent what was said. */
  readonly hasNoTools?: true
  /** What a session that it has put away wants first. */
  broughtBack?(home: string, session: string): readonly string[] | undefined
  /** What of a home belongs to its sessions. */
  readonly keeps: readonly string[]
  sessions(home: string): readonly StoredSession[]
}

export const MODEL_URL = "http://127.0.0.1:8484"

export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** In the order of their names. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((left, right) => (left < right ? -1 : 1))
}

/** The records of a log. A line that is none, or two, is left out: damage is for others to find. */
export function recordsOf<T>(file: string): T[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line): T[] => {
      try {
        const record: unknown = JSON.parse(line)
        return typeof record === "object" && record !== null && !Array.isArray(record) ? [record as T] : []
      } catch {
        return []
      }
    })
}
