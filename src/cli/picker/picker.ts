/**
 * Choosing one of a list by eye: arrows move, typing filters, Enter takes. What the screen shows is worked out from a
 * state and nothing else; `pick` alone draws and reads keys. It knows nothing of what is chosen.
 */
import type { Key, Keyboard } from "../../platform/process/keyboard.ts"
import type { TextSink } from "../../platform/process/streams.ts"
import type { Style } from "../render/style.ts"
import { type Column, cutToWidth, lineOf } from "../render/table.ts"

export interface Choice {
  readonly id: string
  /** What the line says, and what is filtered by. Visible text. */
  readonly title: string
  /** When, of which client, where. */
  readonly about: readonly [string, string, string]
}

const COLUMNS: readonly Column[] = [
  { title: "" },
  { title: "", align: "right", isFixed: true },
  { title: "", isFixed: true },
  { title: "", cut: "front" },
]

function cellsOf({ title, about }: Choice): readonly string[] {
  return [title, ...about]
}

export interface PickerState {
  readonly choices: readonly Choice[]
  readonly query: string
  /** Among those that the query leaves. */
  readonly at: number
  /** Whether others may still come, behind those that are there. */
  readonly isGrowing?: boolean
}

function matching({ choices, query }: PickerState): readonly Choice[] {
  const words = query.toLowerCase().split(/\s+/)
  return choices.filter((choice) => {
    const text = choiceText(choice)
    return words.every((word) => text.includes(word))
  })
}

const texts = new WeakMap<Choice, string>()

/** Once for each: there may be ten thousand of them, and each key asks for all. */
function choiceText(choice: Choice): string {
  const known = texts.get(choice)
  if (known !== undefined) return known
  const { id, title, about } = choice
  const text = `${title} ${about.join("  ")} ${id}`.toLowerCase()
  texts.set(choice, text)
  return text
}

interface Lines {
  readonly columns: number
  readonly lineOfCells: ReturnType<typeof lineOf>
}

const linesByChoices = new WeakMap<readonly Choice[], Lines>()

/** All of them say how wide the columns are, whichever are shown. */
function linesOf(choices: readonly Choice[], columns: number): Lines["lineOfCells"] {
  const known = linesByChoices.get(choices)
  if (known?.columns === columns) return known.lineOfCells
  const lineOfCells = lineOf(COLUMNS, choices.map(cellsOf), columns)
  linesByChoices.set(choices, { columns, lineOfCells })
  return lineOfCells
}

export function chosen(state: PickerState): Choice | undefined {
  return matching(state)[state.at]
}

const PAGE = 10

export function afterKey(state: PickerState, key: Key): PickerState {
  const last = Math.max(0, matching(state).length - 1)
  const moved = (by: number) => ({ ...state, at: Math.min(last, Math.max(0, state.at + by)) })
  const asked = (query: string) => ({ ...state, query, at: 0 })
  switch (key.kind) {
    case "up":
      return moved(-1)
    case "down":
      return moved(1)
    case "page_up":
      return moved(-PAGE)
    case "page_down":
      return moved(PAGE)
    case "text":
      return asked(state.query + key.text)
    case "delete":
      return asked([...state.query].slice(0, -1).join(""))
    case "clear":
      return asked("")
    default:
      return state
  }
}

export interface PickerLayout {
  readonly style: Style
  readonly columns: number
  readonly rows: number
  readonly prompt: string
  /** Of the choice under the cursor; visible text. */
  readonly preview: readonly string[]
}

const LIST_ROWS_MAX = 12

/** Exactly as many lines as the screen has, none wider than it. */
export function screenOf(state: PickerState, { style, columns, rows, prompt, preview }: PickerLayout): string[] {
  const left = matching(state)
  const room = Math.max(1, Math.min(LIST_ROWS_MAX, Math.floor((rows - 3) / 2)))
  const from = Math.max(0, Math.min(state.at - Math.floor(room / 2), left.length - room))
  const lineOfCells = linesOf(state.choices, columns - 3)
  const list = left.slice(from, from + room).map((choice, index) => {
    const isHere = from + index === state.at
    const line = cutToWidth(`${isHere ? ">" : " "} ${lineOfCells(cellsOf(choice))}`, columns - 1)
    return isHere ? style.bold(style.cyan(line)) : line
  })
  const nothing = state.isGrowing ? "  Nothing matches yet." : "  Nothing matches."
  if (left.length === 0) list.push(style.dim(cutToWidth(nothing, columns - 1)))
  const all = `${state.choices.length}${state.isGrowing ? "+" : ""}`
  const hint = "up/down: move  type: filter  Enter: choose  Esc: cancel"
  const lines = [
    cutToWidth(`${prompt} ${state.query}▏`, columns - 1),
    style.dim(cutToWidth(`${left.length} of ${all}  ${hint}`, columns - 1)),
    ...list,
    style.dim("─".repeat(Math.max(1, columns - 1))),
    ...preview.map((line) => cutToWidth(line, columns - 1)),
  ].slice(0, rows)
  return [...lines, ...Array<string>(rows - lines.length).fill("")]
}

/** A screen and its keys. */
export interface InteractiveScreen {
  readonly keyboard: Keyboard
  readonly out: TextSink
  readonly style: Style
}

export interface PickParts extends InteractiveScreen {
  readonly prompt: string
  /** The filter that the list starts with; it can be edited like a typed one. */
  readonly query?: string
  readonly preview: (choice: Choice) => Promise<readonly string[]>
  /** Those behind the first ones, asked for once these are on the screen. */
  readonly more?: (signal: AbortSignal) => AsyncIterable<readonly Choice[]>
}

const ENTER_SCREEN = "\u001b[?1049h\u001b[?25l"
const LEAVE_SCREEN = "\u001b[?25h\u001b[?1049l"
const HOME = "\u001b[H"
const CLEAR_TO_END = "\u001b[K"

/** The chosen one, or nothing where the user left. The screen is as it was before. */
export async function pick(choices: readonly Choice[], parts: PickParts): Promise<Choice | undefined> {
  const { keyboard, out, style, prompt, more } = parts
  let state: PickerState = { choices, query: parts.query ?? "", at: 0, isGrowing: more !== undefined }
  const left = new AbortController()
  const others = arrivals(keyboard, more === undefined ? undefined : () => more(left.signal))
  out.write(ENTER_SCREEN)
  try {
    for (;;) {
      const here = chosen(state)
      const preview = here === undefined ? [] : await parts.preview(here)
      const { columns = 80, rows = 24 } = out
      const screen = screenOf(state, { style, columns, rows, prompt, preview })
      out.write(`${HOME}${screen.map((line) => `${line}${CLEAR_TO_END}`).join("\r\n")}`)
      const { keys, added } = await others.next()
      state = afterArrival(state, added)
      for (const key of keys ?? []) {
        if (key.kind === "leave") return undefined
        const taken = key.kind === "enter" ? chosen(state) : undefined
        if (taken !== undefined) return taken
        state = afterKey(state, key)
      }
    }
  } finally {
    left.abort()
    out.write(LEAVE_SCREEN)
    keyboard.close()
  }
}

function afterArrival(state: PickerState, added: Arrival["added"]): PickerState {
  if (added === undefined) return state
  return added === "end" ? { ...state, isGrowing: false } : { ...state, choices: [...state.choices, ...added] }
}

interface Arrival {
  readonly keys?: readonly Key[]
  readonly added?: readonly Choice[] | "end"
}

/** What comes first, a key or more to choose from. Of the other nothing is lost. */
function arrivals(keyboard: Keyboard, more: (() => AsyncIterable<readonly Choice[]>) | undefined) {
  let typed: Promise<Arrival> | undefined
  let coming: Promise<Arrival> | undefined
  let source: AsyncIterator<readonly Choice[]> | undefined
  let isOver = more === undefined

  async function nextAdded(): Promise<Arrival> {
    source ??= more?.()[Symbol.asyncIterator]()
    const next = await source?.next()
    return { added: next === undefined || next.done === true ? "end" : next.value }
  }

  return {
    async next(): Promise<Arrival> {
      typed ??= keyboard.next().then((keys) => ({ keys }))
      if (!isOver && coming === undefined) {
        coming = nextAdded()
        // Who has chosen by then is not to hear of it.
        coming.catch(() => undefined)
      }
      const first = await Promise.race(coming === undefined ? [typed] : [typed, coming])
      if (first.keys !== undefined) typed = undefined
      else coming = undefined
      if (first.added === "end") isOver = true
      return first
    },
  }
}
