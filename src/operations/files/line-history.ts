/**
 * The history of one file, replayed from what tool calls did to it: which call wrote each line. Between two calls anybody
 * may have changed the file, so a line is attributed only where the replay is certain, and to nobody otherwise.
 *
 * The replay holds the file as far as it is known, each line with its writer. A call that recorded the file before it, or
 * read all of it, corrects what is held. An edit that does not apply shows that what is held is not the file any more: it
 * is put aside, and the lines of it are looked for again in the next text that is whole.
 */
import { diffArrays } from "diff/lib/diff/array.js"
import type { FileChange, TextEdit } from "./file-change.ts"

/** One change of the file, by one message. */
export interface FileEvent {
  readonly atMicros: bigint
  readonly sessionId: string
  readonly messageId: string
  readonly sourceAgent: string
  readonly change: FileChange
  /** What its session had been shown before. */
  readonly shownBefore: () => Promise<Shown>
}

export interface Shown {
  /** Lines, without the spaces around them. */
  readonly lines: ReadonlySet<string>
  /** Whether a result of a tool named this file. */
  readonly mentions: (name: string) => boolean
}

export interface HistoryLine {
  readonly text: string
  readonly by: FileEvent | undefined
}

/** The whole file after an event, or before it, as far as calls and results say it exactly. */
export interface FileVersion {
  readonly event: FileEvent
  readonly when: "before" | "after"
  /** Undefined: the file was deleted. */
  readonly text: string | undefined
}

export interface FileHistory {
  readonly versions: readonly FileVersion[]
  /** Who wrote each line of this text. */
  attribute(text: string): readonly HistoryLine[]
}

interface Held {
  readonly lines: readonly HistoryLine[]
  /** As it stands in the file; undefined where only its lines are known. */
  readonly text: string | undefined
}

const EMPTY: Held = { lines: [], text: "" }

/** Events in the order of their times. */
export async function replay(events: readonly FileEvent[]): Promise<FileHistory> {
  const versions: FileVersion[] = []
  const replaying = createReplay((event, when, text) => {
    const last = versions.at(-1)
    if (last === undefined || last.text !== text) versions.push({ event, when, text })
  })
  for (const event of events) await replaying.apply(event)
  return { versions, attribute: replaying.attribute }
}

type Note = (event: FileEvent, when: FileVersion["when"], text: string | undefined) => void

function createReplay(note: Note) {
  let held: Held | undefined
  /** Whether any call has had to do with the file. */
  let isMet = false
  /** What was known of the file when it stopped being certain. Newest last. */
  let aside: (readonly HistoryLine[])[] = []

  /** Lines that stay keep their writer; what is new came from somebody else. */
  const correct = (text: string): Held => {
    const kept = alignLines(held?.lines ?? [], splitLines(text), undefined)
    const lines = aside.reduceRight(findAgain, kept)
    aside = []
    return { lines, text }
  }

  const expect = (before: string | undefined): void => {
    if (before !== undefined && held?.text !== before) held = correct(before)
  }

  const apply = async (event: FileEvent): Promise<void> => {
    const { change } = event
    if (change.kind === "read") {
      expect(change.whole)
      if (change.whole !== undefined) note(event, "before", change.whole)
    } else if (change.kind === "delete") {
      held = EMPTY
      aside = []
      note(event, "after", undefined)
    } else if (change.kind === "write") {
      held = await written(event, change.content, change.before)
      note(event, "after", change.content)
    } else {
      expect(change.before)
      if (change.before !== undefined) note(event, "before", change.before)
      edit(event, change.edits)
    }
    isMet = true
  }

  const written = async (event: FileEvent, content: string, before: string | null | undefined): Promise<Held> => {
    if (before === null) {
      held = EMPTY
      aside = []
    } else expect(before)
    if (typeof before === "string") note(event, "before", before)
    if (before !== undefined) return { lines: alignLines(held?.lines ?? [], splitLines(content), event), text: content }
    const shown = await event.shownBefore()
    if (held === undefined) return { lines: firstWritten(event, content, shown), text: content }
    // Lines that the agent was shown may be somebody's who came in between.
    const isOwn = (line: HistoryLine) =>
      line.by !== event || (isTelling(line.text) && !shown.lines.has(line.text.trim()))
    const lines = alignLines(correct(held.text ?? join(held.lines)).lines, splitLines(content), event)
    return { lines: lines.map((line) => (isOwn(line) ? line : { text: line.text, by: undefined })), text: content }
  }

  /** Over what nobody recorded: a file that nobody ever met and no tool ever named is new, and of any other nothing is certain. */
  const firstWritten = (event: FileEvent, content: string, { mentions }: Shown): readonly HistoryLine[] => {
    const name = event.change.path.split(/[\\/]/).at(-1) ?? ""
    const by = isMet || mentions(name) ? undefined : event
    return splitLines(content).map((text) => ({ text, by }))
  }

  const edit = (event: FileEvent, edits: readonly TextEdit[]): void => {
    for (const each of edits) {
      const edited = held === undefined ? undefined : applyEdit(held, each, event)
      if (edited !== undefined) held = edited
      else {
        if (held !== undefined) aside.push(held.lines)
        held = undefined
        aside.push(alignLines(toLines(splitLines(each.old)), splitLines(each.new), event))
      }
    }
    if (held?.text !== undefined) note(event, "after", held.text)
  }

  const attribute = (text: string): readonly HistoryLine[] => {
    const kept = alignLines(held?.lines ?? [], splitLines(text), undefined)
    return withoutDoubt(aside.reduceRight(findAgain, kept))
  }
  return { apply, attribute }
}

// --- Edits -------------------------------------------------------------------------------------------------------------

/** Undefined where the text does not stand in the file, or stands there more than once. */
function applyEdit({ lines, text }: Held, { old, new: replacement, isEvery, isLines }: TextEdit, by: FileEvent) {
  if (text === undefined || old === "") return undefined
  const at = occurrences(text, old, isLines)
  if (at.length === 0 || (at.length > 1 && !isEvery)) return undefined
  let changed = ""
  let end = 0
  for (const start of at) {
    changed += text.slice(end, start) + replacement
    end = start + old.length
    // A hunk that only takes lines away takes their last line feed too.
    if (isLines && replacement === "" && text[end] === "\n") end += 1
  }
  changed += text.slice(end)
  return { lines: alignLines(lines, splitLines(changed), by), text: changed } satisfies Held
}

function occurrences(text: string, wanted: string, isLines: boolean): readonly number[] {
  const found: number[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    const end = at + wanted.length
    const isWhole = (at === 0 || text[at - 1] === "\n") && (end === text.length || /[\r\n]/.test(text[end] ?? ""))
    if (!isLines || isWhole) found.push(at)
  }
  return found
}

// --- Lines -------------------------------------------------------------------------------------------------------------

/** A line feed at the end of the text ends its last line. */
export function splitLines(text: string): readonly string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === "") lines.pop()
  return lines
}

function toLines(texts: readonly string[]): readonly HistoryLine[] {
  return texts.map((text) => ({ text, by: undefined }))
}

function join(lines: readonly HistoryLine[]): string {
  return lines.map(({ text }) => `${text}\n`).join("")
}

/** More differences than this, and the two texts have nothing to do with each other. */
const DIFFERENCES_MAX = 20_000

/** The new text, with the writers of the lines that stay; whatever is new is `by` somebody. */
function alignLines(before: readonly HistoryLine[], after: readonly string[], by: FileEvent | undefined) {
  const steps = diffArrays(
    before.map(({ text }) => text),
    [...after],
    { maxEditLength: DIFFERENCES_MAX },
  )
  if (steps === undefined) return after.map((text): HistoryLine => ({ text, by }))
  const lines: HistoryLine[] = []
  let at = 0
  for (const { added, removed, value } of steps) {
    if (added) lines.push(...value.map((text) => ({ text, by })))
    else {
      if (!removed) lines.push(...before.slice(at, at + value.length))
      at += value.length
    }
  }
  return lines
}

/** Gives the lines of a block their writers where nobody has them yet: the block as a whole, once, or its telling lines. */
function findAgain(lines: readonly HistoryLine[], block: readonly HistoryLine[]): readonly HistoryLine[] {
  if (!block.some(({ by }) => by !== undefined)) return lines
  const found = blockPositions(lines, block)
  if (found.length === 1) {
    const start = found[0] ?? 0
    return lines.map((line, at) => (line.by === undefined ? { ...line, by: block[at - start]?.by } : line))
  }
  if (found.length > 1) return lines
  const counts = new Map<string, number>()
  for (const { text } of [...lines, ...block]) counts.set(text, (counts.get(text) ?? 0) + 1)
  const writers = new Map(block.flatMap(({ text, by }) => (by === undefined ? [] : [[text, by] as const])))
  // Once here and once there: the line can be no other.
  return lines.map((line) =>
    line.by === undefined && isTelling(line.text) && counts.get(line.text) === 2
      ? { ...line, by: writers.get(line.text) }
      : line,
  )
}

function blockPositions(lines: readonly HistoryLine[], block: readonly HistoryLine[]): readonly number[] {
  const found: number[] = []
  for (let start = 0; start + block.length <= lines.length; start++)
    if (block.every(({ text }, at) => lines[start + at]?.text === text)) found.push(start)
  return found
}

const LETTERS_TELLING = 6

/** Whether a line says enough to be known again. A brace or an `end` stands in every file; a sign of Han says a word. */
function isTelling(text: string): boolean {
  const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
  const words = text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu)?.length ?? 0
  return letters + words >= LETTERS_TELLING
}

/** A line that says little belongs to whom the lines around it belong: between two writers nobody knows whose it is. */
function withoutDoubt(lines: readonly HistoryLine[]): readonly HistoryLine[] {
  const nearest = (from: number, step: 1 | -1) => {
    for (let at = from + step; at >= 0 && at < lines.length; at += step) {
      const line = lines[at]
      if (line !== undefined && isTelling(line.text)) return line
    }
    return undefined
  }
  return lines.map((line, at) => {
    if (line.by === undefined || isTelling(line.text)) return line
    const around = [nearest(at, -1), nearest(at, 1)].filter((near) => near !== undefined)
    return around.every(({ by }) => by === line.by) ? line : { text: line.text, by: undefined }
  })
}
