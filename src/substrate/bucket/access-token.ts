/** Access tokens (OAuth 2.0) of object stores: asked for when the last one is about to end, and kept in memory alone. */
import type { Clock } from "../../platform/host/clock.ts"

export interface AccessToken {
  readonly token: string
  readonly untilMs: number
}

export type TokenSource = (nowMs: number) => Promise<AccessToken>

/** Longer than a request takes, and than the clocks of two machines differ. */
const SPARE_MS = 5 * 60_000

export function keepToken(source: TokenSource, clock: Clock): () => Promise<string> {
  let kept: Promise<AccessToken> | undefined
  return async () => {
    const known = await kept?.catch(() => undefined)
    if (kept === undefined || known === undefined || known.untilMs - SPARE_MS < clock.nowMs())
      kept = source(clock.nowMs())
    return (await kept).token
  }
}

/** The answer of a refusal may hold what was sent, so that nothing but its status is repeated. */
export async function askToken(
  url: string,
  form: Readonly<Record<string, string>>,
  nowMs: number,
): Promise<AccessToken> {
  const answer = await fetch(url, { method: "POST", body: new URLSearchParams(form) })
  if (!answer.ok) throw new Error(`no token: status ${answer.status}`)
  const { access_token: token, expires_in: seconds } = (await answer.json()) as Partial<Record<string, unknown>>
  if (typeof token !== "string" || typeof seconds !== "number") throw new Error("no token in the answer")
  return { token, untilMs: nowMs + seconds * 1000 }
}
