/** What a check of `doctor` is, and what it answers. */
import type { Pond } from "../pond.ts"

export type Status = "ok" | "warning" | "failed"

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
