/** A session, or a message with its neighbours, for people to read. Everything that came from a transcript is made visible. */

import { counted } from "../../model/numbers.ts"
import { visible, visibleLine } from "../../model/visible.ts"
import type { GetOutput } from "../../operations/wire/get.ts"
import type { MessageView, PartSummary, PartView } from "../../operations/wire/views.ts"
import { pondCommand } from "../../platform/process/shell-word.ts"
import type { Page } from "../verb.ts"
import { momentText } from "./dates.ts"
import { projectText } from "./home-paths.ts"
import { roleText } from "./role-text.ts"
import { cutToWidth, wrapToWidth } from "./table.ts"

export interface TranscriptLayout extends Page {
  readonly nowMs: number
  readonly home: string | undefined
}

/** Longer lines are hard to read, however wide the terminal is. */
const WIDTH_MAX = 100

export function headText(answer: GetOutput, { style, nowMs, home, columns }: TranscriptLayout): string {
  const { session, children } = answer
  const id = visibleLine(session.id)
  const title = cutToWidth(visibleLine(answer.title ?? id), Math.min(columns, WIDTH_MAX))
  const facts = `${visibleLine(session.source_agent)}  ${projectText(session.project, home)}  started ${momentText(session.created_at, nowMs)}`
  const parent = session.parent_session_id
  return [
    `${style.bold(title)}\n${style.dim(facts)}\n`,
    session.prompts_only === true
      ? "Prompts only: their session is gone, and what was answered is not known.\n"
      : style.dim(`Resume: ${pondCommand("resume", session.id)}\n`),
    parent === undefined || session.prompts_only === true ? "" : style.dim(`Parent: ${pondCommand("get", parent)}\n`),
    ...children.map((child) =>
      style.dim(`Sub-agent ${visibleLine(child.source_agent)}: ${pondCommand("get", child.id)}\n`),
    ),
  ].join("")
}

export function messagesText(messages: readonly MessageView[], layout: TranscriptLayout): string {
  const calls = callsOf(messages)
  return messages.map((message) => messageText(message, { ...layout, calls })).join("")
}

interface Call {
  readonly name: string
  isFailure: boolean
}

/** The calls of a page by their id: a result is told with its call, and has the name of it. */
function callsOf(messages: readonly MessageView[]): ReadonlyMap<string, Call> {
  const calls = new Map<string, Call>()
  for (const { parts_summary: summary = [], parts: whole = [] } of messages) {
    const parts: readonly PartView[] = whole
    for (const { kind, label = "", call_id: id = "" } of summary)
      if (kind === "tool_call") calls.set(id, { name: label, isFailure: false })
    for (const part of parts)
      if (part.type === "tool_call")
        calls.set(String(part["call_id"]), { name: String(part["name"] ?? ""), isFailure: false })
    for (const { call_id: id = "", failed } of summary) {
      const call = calls.get(id)
      if (call !== undefined && failed === true) call.isFailure = true
    }
  }
  return calls
}

/** Where a page ends before the session does. */
export function remainderText({ session, result }: GetOutput, isFromEnd: boolean, { style }: TranscriptLayout): string {
  if (!("messages" in result) || result.messages_remaining === 0) return ""
  const last = result.messages.at(-1)
  if (isFromEnd)
    return style.dim(`\n${counted(result.messages_remaining, "earlier message")}: ${pondCommand("get", session.id)}\n`)
  return last === undefined
    ? ""
    : style.dim(
        `\n${counted(result.messages_remaining, "more message")}: ${pondCommand("get", session.id, { after: last.id })}\n`,
      )
}

export function neighbourhoodText(answer: GetOutput, layout: TranscriptLayout): string {
  const { result } = answer
  if (!("target" in result)) return ""
  const { style } = layout
  const { target, siblings, target_parts: parts, target_parts_remaining: remaining } = result
  const { text: _, parts_summary: __, ...rest } = target
  const calls = callsOf([...siblings, { ...rest, parts: [...parts] }])
  const left =
    remaining === 0
      ? ""
      : style.dim(
          `  ${counted(remaining, "more part")}: ${pondCommand("get", target.id, { session: target.session_id, after: parts.at(-1)?.id ?? "" })}\n`,
        )
  return [
    messagesText(
      siblings.filter(({ ordinal }) => ordinal < target.ordinal),
      layout,
    ),
    messageText({ ...rest, parts: [...parts] }, { ...layout, calls }, style.magenta(">")),
    left,
    messagesText(
      siblings.filter(({ ordinal }) => ordinal > target.ordinal),
      layout,
    ),
  ].join("")
}

interface PageLayout extends TranscriptLayout {
  readonly calls: ReadonlyMap<string, Call>
}

/** Nothing of a message that has nothing to read: a record of the client, or a result that stands with its call. */
function messageText(message: MessageView, layout: PageLayout, mark = ""): string {
  const { style, nowMs } = layout
  const about = style.dim(`${momentText(message.timestamp, nowMs)}  ${visibleLine(message.id)}`)
  const head = `\n${mark === "" ? "" : `${mark} `}${style.bold(roleText(message.role, style))}  ${about}\n`
  const said = [message.text, message.content].flatMap((text) => (text === undefined ? [] : [prose(text, layout)]))
  const parts = (message.parts ?? []).map((part) => partText(part, layout))
  const summary = (message.parts_summary ?? []).flatMap((part) => summaryText(part, layout))
  const shown = [...said, ...parts, ...summary]
  return shown.length === 0 && mark === "" ? "" : [head, ...shown].join("")
}

/** `→ Bash  go test ./... (failed)` */
function summaryText({ kind, label = "", note, failed, call_id: id = "" }: PartSummary, layout: PageLayout): string[] {
  const { style, columns, calls } = layout
  const call = calls.get(id)
  if (kind === "reasoning" || (kind === "tool_result" && call !== undefined)) return []
  const isFailure = kind === "tool_call" ? call?.isFailure === true : failed === true && !label.endsWith("failed")
  const tail = isFailure ? " (failed)" : ""
  const line = [`  ${arrow(kind)} ${visibleLine(label)}`, ...(note === undefined ? [] : [visibleLine(note)])].join("  ")
  return [`${style.dim(cutToWidth(line, Math.min(columns, WIDTH_MAX) - tail.length))}${style.magenta(tail)}\n`]
}

/** Wrapped between words, but for what stands in a fence: code keeps its lines. */
function prose(text: string, { columns }: Page): string {
  const width = Math.min(columns, WIDTH_MAX)
  let isCode = false
  const lines = visible(text)
    .split("\n")
    .flatMap((line) => {
      if (line.trimStart().startsWith("```")) isCode = !isCode
      return isCode || !Number.isFinite(columns) ? [line] : wrapHanging(line, width)
    })
  return `${lines.join("\n")}\n`
}

/** What goes on of an indented line, or of an item of a list, stands under its beginning. */
function wrapHanging(line: string, width: number): string[] {
  const [lead = ""] = /^\s*(?:[-*+]\s+|\d+[.)]\s+)?/.exec(line) ?? []
  const [first = "", ...others] = wrapToWidth(line.slice(lead.length), Math.max(20, width - lead.length))
  return [`${lead}${first}`, ...others.map((each) => `${" ".repeat(lead.length)}${each}`)]
}

function arrow(kind: string): string {
  if (kind === "tool_call") return "→"
  return kind === "tool_result" ? "←" : `[${kind}]`
}

function partText(part: PartView, layout: PageLayout): string {
  const { style } = layout
  const { type } = part
  if (type === "text") return prose(String(part["text"]), layout)
  if (type === "reasoning") return style.dim(`  (reasoning)\n${indentLines(String(part["text"]))}`)
  const callId = part["call_id"] === undefined ? "" : `  ${visibleLine(String(part["call_id"]))}`
  const name = String(part["name"] ?? layout.calls.get(String(part["call_id"]))?.name ?? "")
  const failed = part["is_failure"] === true ? style.magenta(" (failed)") : ""
  const call = `  ${arrow(type)} ${visibleLine(name)}${failed}${style.dim(callId)}\n`
  if (type === "tool_call") return `${call}${indentLines(valueText(part["params"]))}`
  if (type === "tool_result") return `${call}${indentLines(valueText(part["result"]))}`
  return style.dim(
    `  [${type} ${visibleLine(String(part["file_name"] ?? part["media_type"] ?? part["kind"] ?? ""))}]\n`,
  )
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2)
}

function indentLines(text: string): string {
  return visible(text)
    .split("\n")
    .map((line) => `    ${line}\n`)
    .join("")
}
