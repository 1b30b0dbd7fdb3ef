/** What a session says of itself when it begins, in each of the ways in which opencode writes it down. */
import type { SourceFile } from "../adapter.ts"
import {
  matchIn,
  nonEmptyStringAt,
  type Sealed,
  sealedModifiedAt,
  sealedOrigin,
  sealedRelativePath,
  stringAt,
  timestampAt,
} from "../extract.ts"
import type { SessionStart } from "../session-writer.ts"
import type { SourceValue } from "../source-value.ts"
import type { Brand } from "./brands.ts"

/** How the session is kept: rows, a tree of files, an exported document. */
export type Layout = "database" | "tree" | "export"

/** The client names a sub-agent's session after what it does and who does it. */
const SUBAGENT_TITLE = /\(@(\S+) subagent\)$/

/** What is known besides the record that a session begins with. */
export interface Opening {
  readonly brand: Pick<Brand, "id">
  readonly main: SourceFile
  readonly layout: Layout
  /** Where a message says that it was, when the record does not. */
  readonly directory?: Sealed<string> | undefined
}

/** Nothing where the record does not say which session it is. */
export function sessionStart(
  record: SourceValue,
  { brand, main, layout, directory }: Opening,
): SessionStart | undefined {
  const id = nonEmptyStringAt(record, "id")
  const createdAt =
    timestampAt(record, "time_created") ?? timestampAt(record, "time", "created") ?? sealedModifiedAt(main)
  if (id === undefined || createdAt === undefined) return undefined
  const title = stringAt(record, "title")
  const parentSessionId = nonEmptyStringAt(record, "parent_id") ?? nonEmptyStringAt(record, "parentID")
  return {
    id,
    createdAt,
    parentSessionId,
    title,
    sourceAgent: sealedOrigin(brand, parentSessionId === undefined ? undefined : subagentOf(record, title)),
    project: nonEmptyStringAt(record, "directory") ?? directory ?? sealedRelativePath(main),
    pond: { layout },
  }
}

/** Where a message was said. Sessions of the first months do not say it themselves. */
export function directoryOf(info: SourceValue): Sealed<string> | undefined {
  return nonEmptyStringAt(info, "path", "cwd") ?? nonEmptyStringAt(info, "metadata", "assistant", "path", "cwd")
}

function subagentOf(record: SourceValue, title: Sealed<string> | undefined): Sealed<string> | undefined {
  return nonEmptyStringAt(record, "agent") ?? (title === undefined ? undefined : matchIn(title, SUBAGENT_TITLE))
}

/** A message whose session is not there: what it knows of it is all there is. */
export function orphanStart(
  info: SourceValue,
  { brand, main }: Pick<Opening, "brand" | "main">,
): SessionStart | undefined {
  const id = nonEmptyStringAt(info, "sessionID") ?? nonEmptyStringAt(info, "metadata", "sessionID")
  const createdAt =
    timestampAt(info, "time", "created") ?? timestampAt(info, "metadata", "time", "created") ?? sealedModifiedAt(main)
  if (id === undefined || createdAt === undefined) return undefined
  const project = directoryOf(info) ?? sealedRelativePath(main)
  return { id, createdAt, project, sourceAgent: sealedOrigin(brand), pond: { layout: "tree" } }
}
