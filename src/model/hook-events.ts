/** The moments at which clients call `pond hook`. Each has its own names for them, and not every client has all four. */
export const HOOK_EVENTS = ["session-start", "prompt", "pre-compact", "session-end"] as const
export type HookEvent = (typeof HOOK_EVENTS)[number]
