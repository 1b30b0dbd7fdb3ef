/**
 * What a client does differently with a session of `fixtures/`, or of a later version: what it cannot, and what it says in
 * other words.
 * Nothing is let through by this list. Of what a client cannot, the judge has to find each fault that is named here and no
 * other, so that both a client that learns it and a restore that loses more are told. What is sent in other words is
 * compared to the letter with those words.
 */
import type { Item } from "./model/request.ts"

export interface Known {
  readonly from: string
  /** Absent: of every session, those that the client makes when it is played too. */
  readonly fixture?: string
  readonly session?: string
  readonly to: string
  /** How it is known to be the client, and not the restore. */
  readonly why: string
  /** One for each fault. */
  readonly faults?: readonly RegExp[]
  readonly sends?: (wanted: readonly Item[]) => readonly Item[]
}

const KNOWN: readonly Known[] = [
  {
    ...{ from: "claude", fixture: "v1.0-agent-inside", session: "92a569a3-b164-42a0-9a6d-f2992006bb5e", to: "claude" },
    why: 'it lists no session with the bytes "isSidechain":true at the head of its file ("filtered from /resume"), the one that 1.0 wrote neither; by its id it goes on',
    faults: [/^not listed$/],
  },
  {
    ...{ from: "claude", fixture: "v2.1-workflow-windows", session: "5f0c2d1e-7a1b-4c3d-8e9f-0123456789ab" },
    to: "claude",
    why: "what was typed while a tool ran is said behind what that tool said",
    sends: (wanted) => typedMidTurn(wanted, "and look at the tests, too"),
  },
  {
    ...{ from: "pi", fixture: "damaged", session: "5d1f0a30-0000-4000-8000-000000000006", to: "pi" },
    why: "it breaks off at an answer with a piece of a kind that it does not know; the same file goes on without that piece",
    faults: [/^not resumed \(1\): Cannot read properties of undefined \(reading 'length'\)/],
  },
  {
    ...{ from: "vibe", to: "vibe-old" },
    why: "2.14 has no reader of the store that came with 2.26; `pond restore --anew` writes logs, which it opens",
    faults: [/^not resumed \(1\): Session '[\w-]+' not found in /, /^not listed$/],
  },
]

export function knownOf(from: string, fixture: string, session: string, to: string): Known | undefined {
  return KNOWN.find(
    (each) =>
      each.from === from &&
      each.to === to &&
      (each.fixture ?? fixture) === fixture &&
      (each.session ?? session) === session,
  )
}

/** As Claude Code 2.1.326 puts it. */
function typedMidTurn(wanted: readonly Item[], typed: string): readonly Item[] {
  const at = wanted.findIndex(({ role, text }) => role === "user" && text === typed)
  const before = wanted[at - 1]
  if (before?.role !== "result") throw new Error(`Nobody typed ${typed} behind a result.`)
  const explained =
    "This is how Claude Code surfaces messages the user sends mid-turn — within the running turn, often alongside the next tool result, rather than as a separate conversation turn. Address the message above as you continue this turn."
  const said = `The user sent a new message while you were working:\n${typed}\n\n${explained}`
  const result = { ...before, text: `${before.text}\n\n<system-reminder>\n${said}\n</system-reminder>` }
  return wanted.toSpliced(at - 1, 2, result)
}
