/** Who said what stands in the user's place, by the words around it: a person, or the client in their stead. */

/** A stretch of a text, and what kind of text of the client's own it is. */
export interface Stretch {
  readonly begin: number
  readonly end: number
  readonly kind: string | undefined
}

/** As the client of today keeps a prompt. What stands in it is a person's, whatever it says. */
const PROMPT = /^(<user_input(?: [^>]*)?>)([\s\S]*)<\/user_input>$/
/** As the extensions kept one, among other things. */
const WRAPPED = /<(task|feedback|answer|user_message)>\n?([\s\S]*?)\n?<\/\1>/g

const REMINDER = /^<system-reminder>/

const KINDS: readonly (readonly [kind: string, opening: RegExp])[] = [
  ["environment-context", /^<environment_details>/],
  ["compact-summary", /^<SYSTEM_NOTICE>/],
  ["system-reminder", REMINDER],
  ["internal-context", /^<(?:mode_notice|hook_context|explicit_instructions|workspace_diagnostics|slash_commands)\b/],
  ["mention", /^<(?:file_content|folder_content|url_content|git_working_state|terminal_output)\b/],
  ["command", /^<command name=/],
  ["resumption", /^\[TASK RESUMPTION\]/],
  ["error", /^\[ERROR\] /],
  // Before models called tools, a result was a text in the user's place: its name, then what came of it.
  ["tool-result", /^(?:\[\w+(?: for '[\s\S]*?')?\] Result:|Tool result:\n)/],
  ["internal-context", /^(?:New instructions for task continuation:|# task_progress RECOMMENDED|# \.clinerules)/],
]

/** Reads the texts of one message in their order. `injected`: all of it is of that kind. */
export function createUserTexts(injected: string | undefined): (text: string) => readonly Stretch[] {
  let isResult = false
  return (text) => {
    if (injected !== undefined)
      return [{ begin: 0, end: text.length, kind: REMINDER.test(text) ? "system-reminder" : injected }]
    const found = stretchesOf(text)
    const isPlain = found.every(({ kind }) => kind === undefined)
    if (!isPlain) {
      isResult = found.some(({ kind }) => kind === "tool-result")
      return found
    }
    // What came of a call stands in a separate text behind its name.
    return isResult && !found.some(({ begin }) => begin > 0)
      ? [{ begin: 0, end: text.length, kind: "tool-result" }]
      : found
  }
}

function stretchesOf(text: string): readonly Stretch[] {
  const prompt = PROMPT.exec(text)
  if (prompt !== null) {
    const begin = prompt[1]?.length ?? 0
    const end = begin + (prompt[2]?.length ?? 0)
    return around(text, [{ begin, end, kind: undefined }])
  }
  const wrapped = [...text.matchAll(WRAPPED)].map((found): Stretch => {
    const inner = found[2] ?? ""
    const begin = found.index + found[0].indexOf(">") + 1 + (found[0][found[0].indexOf(">") + 1] === "\n" ? 1 : 0)
    return { begin, end: begin + inner.length, kind: undefined }
  })
  if (wrapped.length > 0) return around(text, wrapped)
  return [{ begin: 0, end: text.length, kind: KINDS.find(([, opening]) => opening.test(text))?.[0] }]
}

/** With what stands before, between and behind them. */
function around(text: string, said: readonly Stretch[]): readonly Stretch[] {
  const all: Stretch[] = []
  let at = 0
  for (const each of said) {
    if (each.begin > at) all.push({ begin: at, end: each.begin, kind: "internal-context" })
    if (each.end > each.begin) all.push(each)
    at = each.end
  }
  if (at < text.length) all.push({ begin: at, end: text.length, kind: "internal-context" })
  return all
}
