/** The list of sessions: filtered by what its lines say and by what was said in them, with a glimpse of the one under the cursor. */
import type { Key } from "../../platform/process/keyboard.ts"
import { createClientView } from "./client-view.ts"
import { afterKey, type Choice, chosen, isByText, type ListState, listScreen, withChoices } from "./list-screen.ts"
import { createReaderView } from "./reader-view.ts"
import { BACK, type BrowseSource, type Later, type ScreenSize, STAY, type Step, type View } from "./view.ts"

export interface ListParts {
  readonly source: BrowseSource
  readonly prompt: string
  /** The filter that the list starts with; it can be edited like a typed one. */
  readonly query: string
  /** What Enter does. */
  readonly enter: "resume" | "read"
}

const HINTS = {
  resume: "Enter: resume  →: read  ^T: other client  ^Y: copy id  ^S: star  Esc: cancel",
  read: "Enter: read  ^R: resume  ^T: other client  ^Y: copy id  ^S: star  Esc: quit",
}
const TEXT_SEARCH_UNITS_MIN = 2

export function createListView({ source, prompt, query, enter }: ListParts, later: Later): View {
  let state: ListState = { choices: source.choices, query, at: 0, isGrowing: source.more !== undefined }
  let shown: { readonly key: string; readonly lines: readonly string[] } = { key: "", lines: [] }
  let isSearching = false
  const left = new AbortController()
  const others = source.more?.(left.signal)[Symbol.asyncIterator]()
  let hasBegun = false

  const grow = (): void => {
    if (others === undefined || left.signal.aborted) return
    const next = others.next().then(({ done, value }) => () => {
      if (done === true) state = { ...state, isGrowing: false }
      else state = withChoices(state, { choices: [...state.choices, ...value] })
      if (done !== true) grow()
    })
    later(next)
  }

  const glimpse = ({ columns }: ScreenSize): void => {
    const here = chosen(state)
    const asked = state.query
    const key = JSON.stringify([here?.id, asked, columns, state.found?.query === asked])
    if (key === shown.key) return
    shown = { key, lines: here === undefined ? [] : shown.lines }
    if (here === undefined) return
    const loaded = source.preview(here, asked, columns).then((lines) => () => {
      if (shown.key === key) shown = { key, lines }
    })
    later(loaded)
  }

  /** One search at a time: what is typed meanwhile is searched when it ends. */
  const searchTexts = (): void => {
    const { query: wanted, found } = state
    if (isSearching || found?.query === wanted || wanted.trim().length < TEXT_SEARCH_UNITS_MIN) return
    isSearching = true
    const searched = source.search(wanted).then((choices) => () => {
      isSearching = false
      state = withChoices(state, { found: { query: wanted, choices } })
    })
    later(searched)
  }

  return {
    screen: ({ columns, rows }, style, note) =>
      listScreen(state, { style, columns, rows, prompt, preview: shown.lines, hint: note || HINTS[enter] }),
    prepare: (size) => {
      glimpse(size)
      searchTexts()
      if (!hasBegun) grow()
      hasBegun = true
    },
    press: (key) => {
      const here = chosen(state)
      const step = here === undefined ? undefined : stepFor(key, here)
      if (step !== undefined) return step
      if (key.kind === "leave") return BACK
      state = afterKey(state, key)
      return STAY
    },
    close: () => left.abort(),
  }

  function stepFor(key: Key, here: Choice): Step | undefined {
    const read = (): Step => {
      const search = isByText(state, here) ? state.query : ""
      return { kind: "open", view: createReaderView({ source, choice: here, search }, later) }
    }
    const resume: Step = { kind: "wish", wish: { id: here.id } }
    if (key.kind === "enter") return enter === "resume" ? resume : read()
    if (key.kind === "right" || key.kind === "tab") return read()
    if (key.kind !== "control") return undefined
    if (key.letter === "r") return resume
    if (key.letter === "t") return { kind: "open", view: createClientView(source, here, later) }
    if (key.letter === "y") return { kind: "copy", text: here.id }
    if (key.letter === "s") later(source.star(here).then((choice) => () => replace(choice)))
    return undefined
  }

  function replace(choice: Choice): void {
    const replaced = (all: readonly Choice[]) => all.map((each) => (each.id === choice.id ? choice : each))
    const { found } = state
    const foundToo = found === undefined ? {} : { found: { ...found, choices: replaced(found.choices) } }
    state = { ...state, choices: replaced(state.choices), ...foundToo }
  }
}
