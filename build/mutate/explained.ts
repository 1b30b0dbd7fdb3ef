/**
 * Lines of `src` whose change no test can notice, each with the reason: `bun run mutate` does not count them. An entry is
 * found by the text of its line, so a line that is written anew is judged again.
 */

interface Explained {
  readonly path: string
  /** Trimmed. */
  readonly line: string
  readonly why: string
}

export const EXPLAINED: readonly Explained[] = []
