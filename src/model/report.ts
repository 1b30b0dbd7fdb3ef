/** What a codec says beside its values. Bad foreign data is a value here, never an error. */

/** `note`: read, kept whole, not understood. `fault`: broken where it lay, kept as it was found. */
export type IssueSeverity = "note" | "fault"

export interface Issue {
  /** A closed word for grouping, snake_case: `unparsable_line`, `unknown_record`, `missing_file`, … */
  readonly kind: string
  readonly severity: IssueSeverity
  /** The file's place below the root of its source. */
  readonly file: string
  /** The record inside the file, counted from 1, where there is one. */
  readonly record?: number
  /** What was found, short, without text of the transcript. */
  readonly found: string
}

/** Something that the target of a restore cannot hold. Shown before anything is written. */
export interface Loss {
  readonly kind: string
  readonly messageId?: string
  readonly found: string
}

/** Notes and faults grouped by kind, with one example each: what a person reads. */
export interface IssueGroup {
  readonly kind: string
  readonly severity: IssueSeverity
  readonly count: number
  readonly example: Issue
}

export function groupIssues(issues: Iterable<Issue>): IssueGroup[] {
  const tally = createIssueTally()
  for (const issue of issues) tally.add(issue)
  return tally.groups()
}

/** Counts issues without keeping them. */
export interface IssueTally {
  add(issue: Issue): void
  groups(): IssueGroup[]
}

export function createIssueTally(): IssueTally {
  const groups = new Map<string, { count: number; readonly example: Issue }>()
  return {
    add(issue) {
      const group = groups.get(issue.kind)
      if (group === undefined) groups.set(issue.kind, { count: 1, example: issue })
      else group.count++
    },
    groups: () =>
      [...groups].map(([kind, { count, example }]) => ({ kind, severity: example.severity, count, example })),
  }
}
