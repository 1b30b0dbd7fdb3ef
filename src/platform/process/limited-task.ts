/** What a process with limits and the one that started it agree on. */

/** The first argument of such a process; the second names its work. Internal: help does not list it. */
export const LIMITED_TASK = "--limited-task"

export type LimitedTask = "sql" | "archive"

/** What the process says to a question. */
export type Reply = { readonly value: unknown } | { readonly failed: string }

export const EXIT_OUT_OF_MEMORY = 87
