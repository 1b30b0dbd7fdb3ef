/** For products that open nothing which is written for them: their sessions are read, and go on in other clients. */
import type { ResumeCommand, Serialize } from "../adapter.ts"

/** No command goes on with such a session: the note says what does. */
export function opensNothing(title: string): Serialize["resume"] {
  const note = `${title} cannot open what pond writes. Resume the session in another client: pond resume ID --to CLIENT`
  return (_, cwd): ResumeCommand => ({ command: [], cwd, note })
}
