/** Names of drafts and backups that pond writes beside files of clients. Such a file is never read as a session. */

const DRAFT = ".pond-draft-"
const BACKUP = ".pond-backup-"

/** Drafts and backups of different restores differ in their timestamps. */
export function draftName(stamp: string): string {
  return `${DRAFT}${stamp}`
}

/** The mark of the process that a draft belongs to, where its stamp begins with one. */
export function stampOf(name: string): string | undefined {
  return name.startsWith(DRAFT) ? name.slice(DRAFT.length) : undefined
}

export function backupOf(path: string, stamp: string): string {
  return `${path}${BACKUP}${stamp}`
}

export function isOwnName(name: string): boolean {
  return name.startsWith(DRAFT) || name.includes(BACKUP)
}
