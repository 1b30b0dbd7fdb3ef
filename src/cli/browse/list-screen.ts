/**
 * The list that something is chosen from: arrows move, typing filters. What the screen shows is worked out from a state and
 * nothing else; `browser.ts` draws it and reads the keys. It knows nothing of what is chosen.
 */
import type { Key } from "../../platform/process/keyboard.ts"
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
  { title: "", align: "right", isFixed: true },
  { title: "" },
  { title: "", isFixed: true },
  { title: "", cut: "front", isFixed: true },
]

function cellsOf({ title, about: [when, client, where] }: Choice): readonly string[] {
  return [when, title, client, where]
}

/** What was found for a query by what was said, beyond what the lines show. */
export interface Found {
  readonly query: string
  readonly choices: readonly Choice[]
}

export interface ListState {
  readonly choices: readonly Choice[]
  readonly query: string
  /** Among those that the query leaves. */
  readonly at: number
  /** Whether others may still come, behind those that are there. */
  readonly isGrowing?: boolean
  readonly found?: Found
}

/** Those whose line has every word of the query, then those that hold it in what was said. */
function passing(state: ListState): { readonly all: readonly Choice[]; readonly byText: number } {
  const words = state.query.toLowerCase().split(/\s+/)
  const byLine = state.choices.filter((choice) => {
    const text = choiceText(choice)
    return words.every((word) => text.includes(word))
  })
  if (state.found === undefined || state.found.query !== state.query) return { all: byLine, byText: 0 }
  const shown = new Set(byLine.map(({ id }) => id))
  const known = new Map(state.choices.map((choice) => [choice.id, choice]))
  const byText = state.found.choices.flatMap((choice) => (shown.has(choice.id) ? [] : (known.get(choice.id) ?? choice)))
  return { all: [...byLine, ...byText], byText: byText.length }
}

/** Whether only what was said in it has the query. */
export function isByText(state: ListState, { id }: Choice): boolean {
  const { all, byText } = passing(state)
  return all.slice(all.length - byText).some((each) => each.id === id)
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
function lineWriter(choices: readonly Choice[], columns: number): Lines["lineOfCells"] {
  const known = linesByChoices.get(choices)
  if (known?.columns === columns) return known.lineOfCells
  const lineOfCells = lineOf(COLUMNS, choices.map(cellsOf), columns)
  linesByChoices.set(choices, { columns, lineOfCells })
  return lineOfCells
}

export function chosen(state: ListState): Choice | undefined {
  return passing(state).all[state.at]
}

const PAGE = 10

export function afterKey(state: ListState, key: Key): ListState {
  const last = Math.max(0, passing(state).all.length - 1)
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
    case "home":
      return moved(-last)
    case "end":
      return moved(last)
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

/** The same choice under the cursor, wherever others have put it. */
export function withChoices(state: ListState, change: Partial<ListState>): ListState {
  const here = chosen(state)
  const changed = { ...state, ...change }
  const at = here === undefined ? 0 : passing(changed).all.findIndex(({ id }) => id === here.id)
  return { ...changed, at: Math.max(0, at) }
}

export interface ListLayout {
  readonly style: Style
  readonly columns: number
  readonly rows: number
  readonly prompt: string
  /** Of the choice under the cursor; no line has colours that end in another. */
  readonly preview: readonly string[]
  /** Which keys do what, or what a key has just done. */
  readonly hint: string
}

/** Of the rows, the share of the list where the preview wants the others. */
const LIST_SHARE = 0.6
/** Filter, count, rule and keys. */
const ROWS_BESIDE = 4

/** Exactly as many lines as the screen has, none wider than it. */
export function listScreen(state: ListState, layout: ListLayout): string[] {
  const { style, columns, rows, prompt, preview, hint } = layout
  const { all, byText } = passing(state)
  const most = Math.max(1, rows - ROWS_BESIDE)
  const room = Math.max(1, Math.min(Math.floor(most * LIST_SHARE), state.choices.length + byText))
  const from = Math.max(0, Math.min(state.at - Math.floor(room / 2), all.length - room))
  const lineOfCells = lineWriter(state.choices, columns - 3)
  const list = all.slice(from, from + room).map((choice, index) => {
    const isHere = from + index === state.at
    const line = cutToWidth(`${isHere ? ">" : " "} ${lineOfCells(cellsOf(choice))}`, columns - 1)
    return isHere ? style.bold(style.cyan(line)) : line
  })
  if (all.length === 0) {
    const growing = state.query === "" ? "  Loading…" : "  Nothing matches yet."
    const nothing = state.isGrowing ? growing : "  Nothing matches."
    list.push(style.dim(cutToWidth(nothing, columns - 1)))
  }
  const fill = Array<string>(Math.max(0, room - list.length)).fill("")
  const lines = [
    cutToWidth(`${prompt} ${state.query}▏`, columns - 1),
    style.dim(cutToWidth(countOf(state, all.length, byText), columns - 1)),
    ...list,
    ...fill,
    style.dim("─".repeat(Math.max(1, columns - 1))),
    ...preview.map((line) => Bun.sliceAnsi(line, 0, columns - 1)),
  ].slice(0, rows - 1)
  const blank = Array<string>(rows - 1 - lines.length).fill("")
  return [...lines, ...blank, style.dim(cutToWidth(hint, columns - 1))]
}

/** `12 of 188`, `3 of 188+, 2 of them by what was said`. */
function countOf({ choices, isGrowing }: ListState, shown: number, byText: number): string {
  const said = byText === 0 ? "" : `, ${byText} of them by what was said`
  return `${shown} of ${choices.length}${isGrowing ? "+" : ""}${said}`
}
