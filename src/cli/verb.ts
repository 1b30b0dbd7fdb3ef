/**
 * What a verb is. A verb says what it takes and returns one outcome: a document for programs and words for people. The
 * frame decides which of the two is printed, so that `--json` is one document on stdout by construction.
 */
import type { PondError } from "../model/errors.ts"
import type { Pond } from "../operations/pond.ts"
import type { Lifetime } from "../platform/host/host.ts"
import type { InteractiveScreen } from "./browse/browser.ts"
import type { Flags, FlagValues, WordKind } from "./flags.ts"
import type { Progress } from "./frame/progress.ts"
import type { Style } from "./render/style.ts"

/** The groups of `pond --help`, in its order. */
export const GROUPS = {
  archive: "Store and find",
  carry: "Move and resume",
  serve: "Serve",
  care: "Maintain",
} as const

export interface VerbRow {
  readonly name: string
  readonly group: keyof typeof GROUPS
  /** One line, starting with what it does; under 70 characters. */
  readonly summary: string
  readonly load: () => Promise<Verb>
}

export interface Positional {
  readonly name: string
  readonly summary: string
  /** `one`: must be there. `optional`: may be. `many`: any number, also none. */
  readonly count: "one" | "optional" | "many"
  /** Where the words are known beforehand: checked, and offered by completions. */
  readonly choices?: readonly string[]
  /** What the words are of: completions ask pond for those that there are. */
  readonly words?: WordKind
  /** The shell completes it as a path; a store is a directory as often as it is a URL. */
  readonly isFile?: true
  /** The field of the operation's input that it sets, where it derives from one. */
  readonly field?: string
}

/** What people read. Text that came from a transcript goes through `visible` first. */
export interface Page {
  readonly style: Style
  /** The width to lay tables out for; unlimited when stdout is no terminal. */
  readonly columns: number
  /** A path, safe to print; on a terminal with `~` for the home directory, elsewhere whole. */
  readonly path: (path: string) => string
  /** Prose, safe to print; on a terminal with `~` for the home directory, and broken between words. */
  readonly prose: (text: string, indent?: string) => string
}

export interface Outcome {
  /** The JSON document, without `protocol_version`, which the frame adds. */
  readonly document: Readonly<Record<string, unknown>>
  readonly render: (page: Page) => string
  /** 0 when left out. `EXIT_NOT_WHOLE` for work that was done but not whole. */
  readonly exitCode?: number
}

/** For a verb that wrote its own stdout (a protocol, a script, a stream of rows): nothing is left to print. */
export interface Streamed {
  readonly exitCode: number
  /** It ran until a signal came, and that is its success. */
  readonly isEndedBySignal?: boolean
}

export interface VerbContext<F extends Flags> {
  readonly pond: Pond
  readonly flags: FlagValues<F>
  /** The words after the verb, as many as `positionals` allows. */
  readonly words: readonly string[]
  readonly isJson: boolean
  readonly progress: Progress
  /**
   * Aborted by Ctrl-C and by SIGTERM. Long work stops at the next point where what is stored is whole, and throws
   * `interrupted` with a message that says how far it came; a value that is returned all the same counts as whole.
   */
  readonly signal: AbortSignal
  /** What is said where nobody waits for the work to stop, as after a second Ctrl-C: how far it came by then. */
  readonly ifLeft: (say: () => PondError) => void
  /** Runs before the process ends, also when it was interrupted; last registered, first run. */
  readonly onEnd: (cleanup: () => void | Promise<void>) => void
  /** The whole table, for verbs that are about verbs. */
  readonly verbs: readonly VerbRow[]
  /** How what is shown should look, for what is shown before the outcome. */
  readonly page: Page
  /**
   * Shows a reader on a terminal text that may be long, in the pager where it is longer than the screen. Undefined where
   * stdout is no terminal, or a program reads it: there the outcome is printed.
   */
  readonly show: ((chunks: (page: Page) => AsyncIterable<string>) => Promise<void>) | undefined
  /** A whole screen with keys, for choosing. Undefined where nobody sits there, as for `ask`. */
  readonly openScreen: (() => InteractiveScreen) | undefined
  /** From here on the process is another program's, and signals go to it, until what is returned takes them back. */
  readonly handOver: (to: { readonly kill: () => void }) => () => void
  /** Only for verbs that stream, or ask. */
  readonly writeOut: (text: string) => void
  /** Undefined without a terminal at both ends, and with `--json`: there no verb asks. */
  readonly ask: Ask | undefined
}

/** Asks a yes-or-no question; Enter means yes, where nothing else is said. Other input is asked again, and `?` shows the explanation. */
export type Ask = (question: string, explanation?: string, enter?: "yes" | "no") => Promise<boolean>

export interface Verb<F extends Flags = Flags> {
  readonly flags: F
  readonly positionals: readonly Positional[]
  /** Command lines worth copying, without `pond`. */
  readonly examples: readonly string[]
  /** "server" for a verb that runs until it is stopped. A command where this is left out. */
  readonly lifetime?: (flags: FlagValues<F>) => Lifetime
  readonly run: (context: VerbContext<F>) => Promise<Outcome | Streamed>
}

/** Keeps the types of the flags, then forgets them: the registry holds verbs of every shape. */
export function defineVerb<const F extends Flags>(verb: Verb<F>): Verb {
  return verb as unknown as Verb
}
