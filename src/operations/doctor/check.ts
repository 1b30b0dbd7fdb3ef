/** What a check of `doctor` is, and what it answers. */
import type { Pond } from "../pond.ts"

/** `todo`: nothing is wrong, and something that pond offers is not set up. */
export const STATUSES = ["ok", "todo", "warning", "failed"] as const
export type Status = (typeof STATUSES)[number]

export interface Seen {
  readonly status: Status
  readonly found: string
  readonly fix?: Fix
}

export interface Fix {
  /** What it does, as it is told beforehand: "sets … right". */
  readonly does: string
  readonly act: () => void | Promise<void>
}

export interface Check {
  readonly name: string
  readonly examine: (pond: Pond) => Seen | readonly Seen[] | Promise<Seen>
}
