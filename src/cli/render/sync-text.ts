/** Syncs as people speak of them: how often, when, and what became of one. */

import { counted, countText } from "../../model/numbers.ts"
import type { IssueGroup } from "../../model/report.ts"
import { visibleLine } from "../../model/visible.ts"
import type { Surroundings } from "../../operations/machine/overview.ts"
import type { SyncRecord } from "../../operations/machine/sync-history.ts"
import { whenText } from "./dates.ts"
import type { Style } from "./style.ts"

export const NO_SOURCES =
  "No supported client has sessions on this machine.\n`pond adapters discover` shows where pond looked.\n"

export function everyText(minutes: number): string {
  if (minutes % 60 !== 0) return minutes === 1 ? "minute" : `${minutes} minutes`
  return minutes === 60 ? "hour" : `${minutes / 60} hours`
}

export function recordText(record: SyncRecord, nowMs: number): string {
  return `${whenText(record.at, nowMs)}, ${outcomeText(record)}`
}

export function outcomeText({ error, messages, sessions, exit_code }: SyncRecord): string {
  const stored = messages === 0 ? "nothing new" : `${counted(messages, "message")} in ${counted(sessions, "session")}`
  if (exit_code === 130) return `stopped; ${stored}`
  if (error !== null) return `failed: ${visibleLine(error)}`
  return exit_code === 0 ? stored : `${stored}; some records could not be parsed (pond verify)`
}

/** How long a client keeps sessions. */
export function ageText(days: number): string {
  return days < 1 ? counted(Math.round(days * 24), "hour") : counted(Math.round(days), "day")
}

/** What nobody else will keep. */
export function unreadText({ title, path, sessions, retention }: Surroundings["unread"][number]): string {
  const { days, due, setting, file } = retention
  return `${title} deletes ${due} of its ${counted(sessions, "session")} within a week, and pond cannot read them yet. Raise ${setting} (${ageText(days)}) in ${visibleLine(file)}, or copy ${visibleLine(path)}/tmp`
}

export function unidentifiedText(count: number): string {
  return count === 1 ? "1 file has no session id yet" : `${countText(count)} files have no session id yet`
}

/** Issues as people read them: what, how often, and the first place where it was found. */
export function issueLine(adapter: string, { kind, severity, count, example }: IssueGroup, style: Style): string {
  const mark = severity === "fault" ? style.magenta("fault") : style.dim("note")
  const place = example.record === undefined ? example.file : `${example.file}:${example.record}`
  const often = count === 1 ? "once" : `${countText(count)} times; first`
  return `${mark}  ${adapter}: ${kind.replaceAll("_", " ")}, ${often}: ${visibleLine(example.found).replace(/\.$/, "")} in ${visibleLine(place)}\n`
}
