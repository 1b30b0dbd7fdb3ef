/**
 * A restored session goes on: its client resumes it where it was restored, the home is synced into the same store, and what
 * comes out of the store then is what the client told its model last. Nothing is stored twice, and a second sync finds
 * nothing new.
 */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { providerOf } from "./clients.ts"
import { compare } from "./compare.ts"
import { type Case, configured } from "./judge.ts"
import type { Item } from "./model/request.ts"
import { run, truthOf } from "./run.ts"

export interface Continued {
  /** The conversation as it is now, by the client's own word. */
  readonly items: readonly Item[]
  readonly faults: readonly string[]
}

const PROMPT = "[[script:plain3]] a third prompt"

/** Changes the home: the session is longer then. */
export function goOn({ place, client, home, session, cwd, wanted, isForeign }: Case): Continued {
  configured(client, home, session)
  const provider = providerOf(client, home, session)
  const words = client.resume(session, PROMPT, provider === undefined ? {} : { provider })
  const log = join(home, "requests.jsonl")
  const { code, requests, complaints, said } = run({ client, place, home, cwd, log, words })
  rmSync(log, { force: true })
  const items = truthOf(requests)
  if (items === undefined || code !== 0)
    throw new Error(`It did not go on (${code}): ${(complaints || said).slice(-300)}`)
  const before = items.slice(
    0,
    items.findLastIndex(({ role, text = "" }) => role === "user" && text.includes(PROMPT)),
  )
  return { items, faults: compare(wanted, before, { isForeign }).faults }
}
