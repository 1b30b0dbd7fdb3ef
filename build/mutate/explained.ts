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

export const EXPLAINED: readonly Explained[] = [
  {
    path: "src/cli/verbs/completions.ts",
    line: "const SESSIONS_SHOWN = 50",
    why: "How many sessions a shell offers at a tab is a choice and no promise: 51 are as right.",
  },
  {
    path: "src/sessions/rows/check-rows.ts",
    line: 'if (seen.size >= REMEMBERED_MAX) seen = new Set(["{}"])',
    why: "The bound of a cache: with one entry more the same values are accepted and refused.",
  },
  {
    path: "src/sessions/words/terms/term-interner.ts",
    line: "for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (text[at] as number)) | 0",
    why: "The hash chooses a slot, and the units themselves are compared. With one unit more a word may be interned twice, which takes room and changes no term.",
  },
  {
    path: "src/substrate/columns/column-batch.ts",
    line: "if (row >= tried) {",
    why: "When many rows at once are compared: a row later answers the same, with one comparison more.",
  },
  {
    path: "src/cli/verbs/blame.ts",
    line: "const ID_WIDTH_MAX = 13",
    why: "How wide a column of a page is, is a choice: with one more the same is said.",
  },
  {
    path: "src/page/bars.tsx",
    line: "const rows = counted ?? []",
    why: "Runs in a browser: `bun run judge:page` looks at the charts with rows and without.",
  },
  {
    path: "src/adapters/goose/vocabulary.ts",
    line: 'const EDITOR = { name: "developer__text_editor", isRetired: true } as const',
    why: "The fold of the retired tool writes nothing, so nothing is ever translated into it, retired or not.",
  },
  {
    path: "src/operations/machine/exclude-operations.ts",
    line: "read: true,",
    why: "The wire alone looks at it, and a local operation is never on the wire.",
  },
  {
    path: "src/sessions/rows/blob-packing.ts",
    line: "const bytes = packedSize > size * PACKED_SHARE_MAX ? whole() : concat(frames, packedSize)",
    why: "At exactly seven eighths it is packed or left as it is: either comes back the same.",
  },
  {
    path: "src/operations/machine/capture-operations.ts",
    line: "read: false,",
    why: "The wire alone looks at it, and a local operation is never on the wire.",
  },
  {
    path: "src/search/arms/literal.ts",
    line: ".toSorted((left, right) => (left > right ? -1 : 1))",
    why: "The first of the sorted moments is taken, and of equal ones either is the same.",
  },
  {
    path: "src/substrate/local/disk-files.ts",
    line: "const bytesRead = readSync(file, piece, filled, piece.length - filled, bytes + filled)",
    why: "A regular file fills the piece in one read, so nothing is filled yet; only odd file systems give less than asked.",
  },
  {
    path: "src/operations/machine/setup-operations.ts",
    line: "read: false,",
    why: "The wire alone looks at it, and a local operation is never on the wire.",
  },
  {
    path: "src/operations/wire/search-output.ts",
    line: "const WINDOW_TERMS_MAX = 64",
    why: "A bound on work: the sixty-fifth word of a query hardly moves a window, and no number is the right one.",
  },
  {
    path: "src/operations/usage/usage-cache.ts",
    line: "const HASH_BYTES = 8",
    why: "Written and read by the same process, and built anew where it cannot be read.",
  },
  {
    path: "src/page/find.tsx",
    line: "const isFiltered = useRef(false)",
    why: "It only saves a first pass that would show what is shown already.",
  },
]
