/** A session, or a message with its neighbours, for people to read. Everything that came from a transcript is made visible. */

import { counted } from "../../model/numbers.ts"
import { visible, visibleLine } from "../../model/visible.ts"
import type { GetOutput } from "../../operations/wire/get.ts"
import type { MessageView, PartView } from "../../operations/wire/views.ts"
import { pondCommand } from "../../platform/process/shell-word.ts"
import type { Page } from "../verb.ts"
import { whenText } from "./dates.ts"
import { projectText } from "./home-paths.ts"
import { roleText } from "./search-results.ts"
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
  const title = cutToWidth(visibleLine(session.title ?? firstWordsOf(answer) ?? id), Math.min(columns, WIDTH_MAX))
  const facts = `${visibleLine(session.source_agent)}  ${projectText(session.project, home)}  started ${whenText(session.created_at, nowMs)}`
  const parent = session.parent_session_id
  return [
    `${style.bold(title)}\n${style.dim(facts)}\n`,
    style.dim(`Resume: ${pondCommand("resume", session.id)}\n`),
    parent === undefined ? "" : style.dim(`Parent: ${pondCommand("get", parent)}\n`),
    ...children.map((child) =>
      style.dim(`Sub-agent ${visibleLine(child.source_agent)}: ${pondCommand("get", child.id)}\n`),
    ),
  ].join("")
}

/** Where its client gave it no title: what its user said first, where the page begins with it. */
function firstWordsOf({ result }: GetOutput): string | undefined {
  if (!("messages" in result)) return undefined
  const [first] = result.messages
  return first?.role === "user" && first.ordinal <= FIRST_ORDINAL_MAX ? first.text : undefined
}

/** Behind what the client put there. A page from further on begins with another of its user's messages. */
const FIRST_ORDINAL_MAX = 8

export function messagesText(messages: readonly MessageView[], layout: TranscriptLayout): string {
  return messages.map((message) => messageText(message, layout)).join("")
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
    messageText({ ...rest, parts: [...parts] }, layout, style.magenta(">")),
    left,
    messagesText(
      siblings.filter(({ ordinal }) => ordinal > target.ordinal),
      layout,
    ),
  ].join("")
}

function messageText(message: MessageView, layout: TranscriptLayout, mark = ""): string {
  const { style, nowMs } = layout
  const about = style.dim(`${whenText(message.timestamp, nowMs)}  ${visibleLine(message.id)}`)
  const head = `\n${mark === "" ? "" : `${mark} `}${style.bold(roleText(message.role, style))}  ${about}\n`
  const said = [message.text, message.content].flatMap((text) => (text === undefined ? [] : [prose(text, layout)]))
  const parts = (message.parts ?? []).map((part) => partText(part, layout))
  const summary = (message.parts_summary ?? []).map(({ kind, label }) =>
    style.dim(`  ${arrow(kind)} ${visibleLine(label ?? "")}\n`),
  )
  return [head, ...said, ...parts, ...summary].join("")
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

function partText(part: PartView, layout: TranscriptLayout): string {
  const { style } = layout
  const { type } = part
  if (type === "text") return prose(String(part["text"]), layout)
  if (type === "reasoning") return style.dim(`  (reasoning)\n${indentLines(String(part["text"]))}`)
  const callId = part["call_id"] === undefined ? "" : `  ${visibleLine(String(part["call_id"]))}`
  const call = `  ${arrow(type)} ${visibleLine(String(part["name"] ?? ""))}${style.dim(callId)}\n`
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
