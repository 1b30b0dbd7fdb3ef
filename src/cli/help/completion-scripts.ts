/**
 * Completion scripts for three shells, each written from the same description of the verbs. Pressing tab starts a process
 * only for words that the machine and its store alone know, such as the ids of sessions.
 */
import { type Flag, type Flags, GLOBAL_FLAGS, type WordKind } from "../flags.ts"
import type { Positional, VerbRow } from "../verb.ts"

export interface Completable {
  readonly row: VerbRow
  readonly flags: Flags
  readonly positionals: readonly Positional[]
}

export const SHELLS = ["bash", "zsh", "fish"] as const

export type Shell = (typeof SHELLS)[number]

export function completionScript(shell: Shell, verbs: readonly Completable[]): string {
  const writers = { bash: bashScript, zsh: zshScript, fish: fishScript }
  return writers[shell](verbs)
}

interface Candidate {
  readonly word: string
  readonly summary: string
}

/** What may follow the words so far: the next words of verbs that begin so. */
function nextWords(verbs: readonly Completable[], before: string): Candidate[] {
  const prefix = before === "" ? "" : `${before} `
  const found = new Map<string, string>()
  for (const { row } of verbs.filter(({ row: { name } }) => name.startsWith(prefix))) {
    const rest = row.name.slice(prefix.length)
    const word = rest.split(" ")[0] ?? rest
    const below = found.get(word)
    if (word === rest) found.set(word, row.summary)
    else found.set(word, `${below === undefined ? "" : `${below}, `}${rest.slice(word.length + 1)}`)
  }
  return [...found].map(([word, summary]) => ({ word, summary }))
}

/** First words that are followed by a second one, such as `adapters`. */
function familiesOf(verbs: readonly Completable[]): string[] {
  return [
    ...new Set(
      verbs
        .map(({ row }) => row.name.split(" "))
        .flatMap(([first, second]) => (second === undefined ? [] : (first ?? []))),
    ),
  ]
}

function spellings(name: string, { short }: Flag<unknown>): string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
}

/** A store is a directory, as often as it is a URL. */
function takesFile({ hint }: Flag<unknown>): boolean {
  return hint !== undefined && /^(?:FILE|DIR|PATH|URL)\b/.test(hint)
}

function wordChoices(positionals: readonly Positional[]): readonly string[] {
  return positionals.flatMap(({ choices }) => choices ?? [])
}

/** What asks pond for words of a kind, in the form that the shell takes. */
function asking(shell: Shell, kind: WordKind): string {
  // The newest sessions are few of all: an older one is found by how its id begins.
  const typed = shell === "bash" ? ` \${current:+"--beginning=$current"}` : ""
  return `pond completions ${shell} --words ${kind}${typed} 2>/dev/null`
}

// --- bash ---------------------------------------------------------------------------

function bashScript(verbs: readonly Completable[]): string {
  const families = familiesOf(verbs)
  const cases = verbs.map(({ row, flags, positionals }) => {
    const live = positionals.flatMap(({ words: kind }) => (kind === undefined ? [] : `$(${asking("bash", kind)})`))
    const words = [...wordChoices(positionals), ...new Set(live), ...flagWords(flags)]
    const files = positionals.some(({ isFile }) => isFile === true) ? "; files=1" : ""
    return `    ${bashQuote(row.name)}) words="${words.join(" ")}"${files} ;;`
  })
  const familyCases = families.map(
    (word) =>
      `    ${bashQuote(word)}) words="${nextWords(verbs, word)
        .map((next) => next.word)
        .join(" ")}" ;;`,
  )
  const first = nextWords(verbs, "").map(({ word }) => word)
  return `# bash completion for pond: source <(pond completions bash)
_pond() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" verb="" words files="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      ${valueFlagWords(verbs).join("|")}) ((index++)) ;;
      -*) ;;
      *)
        if [ -z "$verb" ]; then verb="\${COMP_WORDS[index]}"
        elif case "$verb" in ${families.map(bashQuote).join("|") || '""'}) true ;; *) false ;; esac; then verb="$verb \${COMP_WORDS[index]}"
        fi ;;
    esac
  done
  case "$verb:$previous" in
${bashValueCases(verbs).join("\n")}
  esac
  words=""
  case "$verb" in
    "") words="${first.join(" ")}" ;;
${[...familyCases, ...cases].join("\n")}
  esac
  case "$current" in -*) words="$words ${flagWords(GLOBAL_FLAGS).join(" ")}" ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ -n "$files" ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}
complete -F _pond pond
`
}

function flagWords(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([name, known]) => spellings(name, known))
}

function valueFlagWords(verbs: readonly Completable[]): string[] {
  const all = [GLOBAL_FLAGS as Flags, ...verbs.map(({ flags }) => flags)]
  const words = all.flatMap((flags) =>
    Object.entries(flags).flatMap(([name, known]) => (known.hint === undefined ? [] : spellings(name, known))),
  )
  return [...new Set(words)]
}

function bashValueCases(verbs: readonly Completable[]): string[] {
  const line = (verb: string, flags: Flags) =>
    Object.entries(flags).flatMap(([name, known]) => {
      if (known.hint === undefined) return []
      const pattern = spellings(name, known)
        .map((spelling) => `${verb}:${spelling}`)
        .join("|")
      const words = known.words === undefined ? (known.choices ?? []).join(" ") : `$(${asking("bash", known.words)})`
      const reply = takesFile(known) ? `$(compgen -f -- "$current")` : `$(compgen -W "${words}" -- "$current")`
      return [`    ${pattern}) COMPREPLY=(${reply}); return ;;`]
    })
  return [...verbs.flatMap(({ row, flags }) => line(bashQuote(row.name), flags)), ...line("*", GLOBAL_FLAGS)]
}

function bashQuote(word: string): string {
  return `"${word}"`
}

// --- zsh ----------------------------------------------------------------------------

function zshScript(verbs: readonly Completable[]): string {
  const describe = (candidates: readonly Candidate[]) =>
    candidates.map(({ word, summary }) => `      ${shellQuote(`${word}:${summary.replaceAll(":", " -")}`)}`).join("\n")
  const families = familiesOf(verbs)
  const states = families.map(
    (word) =>
      `    ${shellQuote(word)})\n      candidates=(\n${describe(nextWords(verbs, word))}\n      ); _describe verb candidates; return ;;`,
  )
  const cases = verbs.map(({ row, flags, positionals }) => {
    const specs = [...zshSpecs(flags), ...zshSpecs(GLOBAL_FLAGS), ...zshWords(positionals)]
    return `    ${shellQuote(row.name)}) _arguments -s -S ${specs.join(" ")}; return ;;`
  })
  return `#compdef pond
# zsh completion for pond: source <(pond completions zsh)
_pond_words() {
  local -a found=("\${(@f)$(pond completions zsh --words $1 \${PREFIX:+--beginning=$PREFIX} 2>/dev/null)}")
  (($#found && $#found[1])) && _describe -V $1 found
}
_pond() {
  local -a candidates rest=(pond)
  local verb="" index
  for ((index = 2; index < CURRENT; index++)); do
    case "$words[index]" in
      ${valueFlagWords(verbs).join("|")}) rest+=("$words[index]" "$words[index+1]"); ((index++)) ;;
      -*) rest+=("$words[index]") ;;
      *)
        if [[ -z "$verb" ]]; then verb="$words[index]"
        elif [[ " ${families.join(" ")} " == *" $verb "* ]]; then verb="$verb $words[index]"
        else rest+=("$words[index]"); fi ;;
    esac
  done
  if ((index == CURRENT)); then rest+=("$words[CURRENT]"); fi
  words=("\${rest[@]}")
  CURRENT=$#words
  case "$verb" in
    "") candidates=(
${describe(nextWords(verbs, ""))}
      )
      if [[ "$words[CURRENT]" == -* ]]; then _arguments -s -S ${zshSpecs(GLOBAL_FLAGS).join(" ")}; else _describe verb candidates; fi
      return ;;
${[...states, ...cases].join("\n")}
  esac
}
if [[ "$funcstack[1]" == _pond ]]; then _pond "$@"; else compdef _pond pond; fi
`
}

function zshSpecs(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([name, known]) =>
    spellings(name, known).map((spelling) => {
      const label = known.summary.replaceAll("[", "(").replaceAll("]", ")").replaceAll(":", " -")
      const star = known.isRepeatable ? "*" : ""
      const equals = known.hint === undefined || !spelling.startsWith("--") ? "" : "="
      return shellQuote(`${star}${spelling}${equals}[${label}]${zshValue(known)}`)
    }),
  )
}

function zshValue(known: Flag<unknown>): string {
  if (known.hint === undefined) return ""
  if (known.words !== undefined) return `:${known.words}:{_pond_words ${known.words}}`
  if (takesFile(known)) return ":file:_files"
  return `:value:(${(known.choices ?? []).join(" ")})`
}

function zshWords(positionals: readonly Positional[]): string[] {
  return positionals.map((positional) => {
    const { name, choices, count, words } = positional
    const plain = positional.isFile === true ? "_files" : " "
    const known = choices === undefined ? plain : `(${choices.join(" ")})`
    const values = words === undefined ? known : `{_pond_words ${words}}`
    return shellQuote(`${count === "many" ? "*" : ""}:${name}:${values}`)
  })
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

// --- fish ---------------------------------------------------------------------------

function fishScript(verbs: readonly Completable[]): string {
  const families = familiesOf(verbs)
  const lines = [
    "# fish completion for pond: pond completions fish | source",
    "complete -c pond -f",
    ...fishFlags(GLOBAL_FLAGS, ""),
    ...nextWords(verbs, "").map(({ word, summary }) => fishWord("__fish_use_subcommand", word, summary)),
  ]
  for (const family of families) {
    const seconds = nextWords(verbs, family)
    const isOpen = `__fish_seen_subcommand_from ${family}; and not __fish_seen_subcommand_from ${seconds.map(({ word }) => word).join(" ")}`
    lines.push(...seconds.map(({ word, summary }) => fishWord(isOpen, word, summary)))
  }
  for (const { row, flags, positionals } of verbs) {
    const isHere = row.name
      .split(" ")
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join("; and ")
    const live = new Set(
      positionals.flatMap(({ words: kind }) => (kind === undefined ? [] : `(${asking("fish", kind)})`)),
    )
    const words = [...wordChoices(positionals), ...live]
    lines.push(...fishFlags(flags, isHere), ...words.map((word) => fishWord(isHere, word, "")))
    if (positionals.some(({ isFile }) => isFile === true)) lines.push(`complete -c pond${fishCondition(isHere)} -F`)
  }
  return `${lines.join("\n")}\n`
}

function fishFlags(flags: Flags, condition: string): string[] {
  return Object.entries(flags).map(([name, known]) => {
    const short = known.short === undefined ? "" : ` -s ${known.short}`
    return `complete -c pond${fishCondition(condition)} -l ${name}${short}${fishValue(known)} -d ${fishQuote(known.summary)}`
  })
}

function fishValue(known: Flag<unknown>): string {
  if (known.hint === undefined) return ""
  if (takesFile(known)) return " -r -F"
  if (known.words !== undefined) return ` -x -k -a ${fishQuote(`(${asking("fish", known.words)})`)}`
  return known.choices === undefined ? " -x" : ` -x -a ${fishQuote(known.choices.join(" "))}`
}

function fishWord(condition: string, word: string, summary: string): string {
  const label = summary === "" ? "" : ` -d ${fishQuote(summary)}`
  return `complete -c pond${fishCondition(condition)} -a ${fishQuote(word)}${label}`
}

function fishCondition(condition: string): string {
  return condition === "" ? "" : ` -n ${fishQuote(condition)}`
}

function fishQuote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
}
