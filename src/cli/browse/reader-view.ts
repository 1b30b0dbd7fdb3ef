/** One session to read, and to search in. */
import type { Key } from "../../platform/process/keyboard.ts"
import { createClientView } from "./client-view.ts"
import type { Choice } from "./list-screen.ts"
import { afterReaderKey, type ReaderState, readerScreen, searchedFor, wantsMore, withLines } from "./reader-screen.ts"
import { BACK, type BrowseSource, type Later, type ScreenSize, STAY, type Step, type View } from "./view.ts"

export interface ReaderParts {
  readonly source: BrowseSource
  readonly choice: Choice
  /** What is searched for from the beginning. */
  readonly search: string
}

const HINT = "q: back  /: search  n: next  t: tools  r: resume  c: other client  y: copy id"

/** The lines of one way to show the session, as far as they came. */
interface Loading {
  readonly columns: number
  readonly lines: AsyncIterator<readonly string[]>
  readonly stop: AbortController
  isBusy: boolean
}

export function createReaderView({ source, choice, search }: ReaderParts, later: Later): View {
  let state = emptyReader(choice)
  let withTools = false
  let loading: Loading | undefined

  const begin = (columns: number, rows: number): Loading => {
    loading?.stop.abort()
    const stop = new AbortController()
    const lines = source.read(choice, { columns: columns - 2, withTools, signal: stop.signal })
    state = search === "" ? emptyReader(choice) : searchedFor(emptyReader(choice), search, rows)
    return { columns, lines: lines[Symbol.asyncIterator](), stop, isBusy: false }
  }

  const load = (current: Loading, rows: number): void => {
    if (current.isBusy || !wantsMore(state)) return
    current.isBusy = true
    const next = current.lines.next().then(({ done, value }) => () => {
      current.isBusy = false
      if (loading === current) state = withLines(state, done === true ? "end" : value, rows)
    })
    later(next)
  }

  const command = (letter: string): Step | undefined => {
    if (letter === "q") return BACK
    if (letter === "r") return { kind: "wish", wish: { id: choice.id } }
    if (letter === "c") return { kind: "open", view: createClientView(source, choice, later) }
    if (letter === "y") return { kind: "copy", text: choice.id }
    if (letter !== "t") return undefined
    withTools = !withTools
    loading?.stop.abort()
    loading = undefined
    return STAY
  }

  const press = (key: Key, { rows }: ScreenSize): Step => {
    if (state.typed === undefined) {
      if (key.kind === "leave" || key.kind === "left") return BACK
      const step = key.kind === "text" ? command(key.text) : undefined
      if (step !== undefined) return step
    }
    state = afterReaderKey(state, key, rows)
    return STAY
  }

  return {
    screen: ({ columns, rows }, style, note) => readerScreen(state, { style, columns, rows, hint: note || HINT }),
    prepare: ({ columns, rows }) => {
      if (loading?.columns !== columns) loading = begin(columns, rows)
      load(loading, rows)
    },
    press,
    close: () => loading?.stop.abort(),
  }
}

function emptyReader({ title }: Choice): ReaderState {
  return { title, lines: [], isComplete: false, top: 0 }
}
