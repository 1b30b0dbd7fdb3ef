/**
 * How long work says where it is: a bar on a terminal, one JSON object per line with `--json`, nothing otherwise. All of
 * it on stderr. There is no timer: it draws when told something, and not more often than the eye or a reader needs.
 */

import { bytesText, countText, durationText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import type { Clock } from "../../platform/host/clock.ts"
import type { TextSink } from "../../platform/process/streams.ts"
import { cutToWidth } from "../render/table.ts"

export interface Progress {
  /** Begins a stage; the one before it ends. `total` is left out where nobody knows it. */
  stage(name: string, unit: string, total?: number): void
  /** How many of the stage are done, and what is being worked on. */
  at(done: number, note?: string): void
  /** Takes the bar off the screen, for a line that is written in its place; the next `at` draws it again. */
  hide(): void
  /** Ends the last stage. Called by the frame before the result is printed. */
  end(): void
}

export type ProgressMode = "bar" | "ndjson" | "silent"

export interface ProgressParts {
  readonly mode: ProgressMode
  readonly sink: TextSink
  readonly clock: Clock
}

const DRAW_EVERY_MS: Readonly<Record<ProgressMode, number>> = { bar: 80, ndjson: 500, silent: Number.POSITIVE_INFINITY }
const BAR_CELLS = 24
const COLUMNS_UNKNOWN = 80
const CLEAR_LINE = "\r\u001b[2K"

interface Stage {
  readonly name: string
  readonly unit: string
  readonly total: number | undefined
  readonly begunAtMs: number
  done: number
  note: string
}

/** What a stage did in its first moments says nothing of the rest. */
const RATE_AFTER_MS = 1_000

export function createProgress({ mode, sink, clock }: ProgressParts): Progress {
  let stage: Stage | undefined
  let drawnAtMs = Number.NEGATIVE_INFINITY
  let isOnScreen = false
  let isNews = false

  const draw = (isLast: boolean) => {
    if (stage === undefined || mode === "silent" || !isNews) return
    const nowMs = clock.monotonicMs()
    if (!isLast && nowMs - drawnAtMs < DRAW_EVERY_MS[mode]) return
    drawnAtMs = nowMs
    isNews = false
    const rate = rateOf(stage, nowMs)
    if (mode === "ndjson") sink.write(`${JSON.stringify(eventOf(stage, rate))}\n`)
    else sink.write(`${CLEAR_LINE}${cutToWidth(barOf(stage, rate), (sink.columns ?? COLUMNS_UNKNOWN) - 1)}`)
    isOnScreen = mode === "bar"
  }

  const hide = () => {
    if (isOnScreen) sink.write(CLEAR_LINE)
    isOnScreen = false
    drawnAtMs = Number.NEGATIVE_INFINITY
  }

  return {
    stage(name, unit, total) {
      if (mode === "ndjson") draw(true)
      stage = { name, unit, total, begunAtMs: clock.monotonicMs(), done: 0, note: "" }
      drawnAtMs = Number.NEGATIVE_INFINITY
      isNews = true
      draw(false)
    },
    at(done, note = "") {
      if (stage === undefined) return
      stage.done = done
      stage.note = note
      isNews = true
      draw(false)
    },
    hide,
    end() {
      if (mode === "ndjson") draw(true)
      hide()
      stage = undefined
    },
  }
}

interface Rate {
  readonly perSecond: number
  readonly secondsLeft: number | undefined
}

function rateOf({ begunAtMs, done, total }: Stage, nowMs: number): Rate | undefined {
  const ms = nowMs - begunAtMs
  if (ms < RATE_AFTER_MS || done <= 0) return undefined
  const perSecond = (done / ms) * 1_000
  const left = total === undefined || total < done ? undefined : Math.ceil((total - done) / perSecond)
  return { perSecond: Math.round(perSecond), secondsLeft: left }
}

function eventOf({ name, unit, total, done, note }: Stage, rate: Rate | undefined) {
  return {
    event: "progress",
    stage: name,
    unit,
    done,
    ...(total === undefined ? {} : { total }),
    ...(rate === undefined ? {} : { per_second: rate.perSecond }),
    ...(rate?.secondsLeft === undefined ? {} : { seconds_left: rate.secondsLeft }),
    ...(note === "" ? {} : { note }),
  }
}

function barOf({ name, unit, total, done, note }: Stage, rate: Rate | undefined): string {
  const isBytes = unit === "bytes"
  const amount = (count: number) => (isBytes ? bytesText(count) : countText(count))
  const tail = [
    ...(rate === undefined ? [] : [`${amount(rate.perSecond)}/s`]),
    ...(rate?.secondsLeft === undefined ? [] : [`${durationText(rate.secondsLeft)} left`]),
    ...(note === "" ? [] : [visibleLine(note)]),
  ]
    .map((text) => `  ${text}`)
    .join("")
  const named = isBytes ? "" : ` ${unit}`
  if (total === undefined && done === 0) return `${name}${tail} …`
  if (total === undefined || total <= 0) return `${name}  ${amount(done)}${named}${tail}`
  const share = Math.min(1, done / total)
  const filled = Math.round(share * BAR_CELLS)
  const bar = `${"█".repeat(filled)}${"░".repeat(BAR_CELLS - filled)}`
  return `${name}  ${bar} ${Math.floor(share * 100)}%  ${amount(done)} of ${amount(total)}${named}${tail}`
}
