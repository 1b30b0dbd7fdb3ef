/** What pond leaves in the folders of others while it writes there, and beside what it replaced. It is nobody's session. */

const DRAFT = ".pond-draft-"
const BACKUP = ".pond-backup-"

/** Drafts and backups of different restores are told apart by their stamps. */
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
