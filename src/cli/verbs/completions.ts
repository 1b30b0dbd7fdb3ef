/** `pond completions SHELL`: a script for the shell, written from the table of verbs; and the words it asks for at a tab. */
import { visibleLine } from "../../model/visible.ts"
import { flag, NO_FLAGS, WORD_KINDS, type WordKind } from "../flags.ts"
import { OWN_VERBS } from "../frame/own-verbs.ts"
import { type Completable, completionScript, SHELLS, type Shell } from "../help/completion-scripts.ts"
import { TOPICS } from "../help/topics.ts"
import { defineVerb, type VerbContext, type VerbRow } from "../verb.ts"

const SESSIONS_SHOWN = 50
const LABEL_CHARACTERS_MAX = 60

const FLAGS = {
  words: flag.choice("Print the current words of this kind (used by the script).", WORD_KINDS),
  beginning: flag.text("With --words: only words starting with TEXT.", "TEXT"),
}

interface Word {
  readonly word: string
  readonly label: string
}

export const completions = defineVerb({
  flags: FLAGS,
  positionals: [{ name: "shell", summary: "The shell: bash, zsh or fish.", count: "one", choices: SHELLS }],
  examples: ["completions bash >> ~/.bashrc", "completions fish | source", "completions zsh --words sessions"],
  run: async ({ pond, flags, words: [shell], verbs }) => {
    if (flags.words !== undefined) {
      const words = await wordsOf(pond, flags.words, flags.beginning)
      return { document: { words }, render: () => words.map((word) => `${spellFor(shell as Shell, word)}\n`).join("") }
    }
    const loaded = await Promise.all(verbs.map(async (row) => ({ row, ...(await row.load()) })))
    const script = completionScript(shell as Shell, [...loaded, ...helpAbout(verbs)])
    return { document: { shell, script }, render: () => script }
  },
})

/** `pond help`, which the table does not list, with every word that it takes. */
function helpAbout(verbs: readonly VerbRow[]): Completable[] {
  const about = new Set([...verbs.map(({ name }) => name.split(" ")[0] ?? ""), ...TOPICS.map(({ name }) => name)])
  const positionals = [
    { name: "about", summary: "A verb or a topic.", count: "optional", choices: [...about] },
  ] as const
  return OWN_VERBS.slice(0, 1).map((row) => ({ row, flags: NO_FLAGS, positionals }))
}

async function wordsOf(pond: VerbContext<typeof FLAGS>["pond"], kind: WordKind, beginning = ""): Promise<Word[]> {
  if (kind === "adapters") {
    const { listClients } = await import("../../operations/machine/clients.ts")
    const clients = listClients(pond).filter(({ adapter }) => adapter.startsWith(beginning))
    return clients.map(({ adapter, title }) => ({ word: adapter, label: title }))
  }
  const { recentSessions } = await import("../../operations/store/recent-sessions.ts")
  const { sessions: recent } = await recentSessions(pond, SESSIONS_SHOWN, beginning)
  return recent.map(({ id, title }) => ({ word: id, label: visibleLine(title).slice(0, LABEL_CHARACTERS_MAX) }))
}

/** bash shows words alone; zsh and fish say what each is. */
function spellFor(shell: Shell, { word, label }: Word): string {
  if (shell === "fish") return `${word}\t${label}`
  return shell === "zsh" ? `${word.replaceAll(":", "\\:")}:${label}` : word
}
