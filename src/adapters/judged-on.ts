/**
 * The day on which the newest version that an adapter names was judged, by what it says (`Judgement`). Beside the adapters, because a
 * list of clients shows it of all, and each has been judged again with others at once.
 */
const MOST = "2026-11-20"

const OTHERS: Readonly<Record<string, string>> = {
  codex: "2026-11-18",
  opencode: "2026-11-18",
  pi: "2026-11-18",
}

export function judgedOn(adapterId: string): string {
  return OTHERS[adapterId] ?? MOST
}
