/** A client that is started with a home other than its usual one: its settings and its login are those of that home. */
import type { ResumeCommand } from "../adapter.ts"

export function inOtherHome(
  title: string,
  environment: NonNullable<ResumeCommand["environment"]>,
): Pick<ResumeCommand, "environment" | "note"> {
  return { environment, note: `${title} also reads its settings and login there, and may ask you to log in.` }
}
