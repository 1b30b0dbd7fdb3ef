/** Which text in the user's place a person typed, and which Vibe put there. Knows text, no records. */

/** A result that says that its call failed, or that somebody stopped it. */
export const FAILED = /^<(?:tool_error|user_cancellation)>/

/** Texts that are the client's as a whole. */
const OPENINGS: readonly (readonly [opening: RegExp, injected: string])[] = [
  [/^<vibe_(?:warning|stop_event)>/, "warning"],
  [/^<system-reminder>/, "system-reminder"],
]

/** `isInjected`: all of the message is the harness's. */
export function injectedKind(text: string, isInjected: boolean): string | undefined {
  return OPENINGS.find(([opening]) => opening.test(text))?.[1] ?? (isInjected ? "compact-summary" : undefined)
}
