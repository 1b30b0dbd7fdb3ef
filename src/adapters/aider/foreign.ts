/**
 * A session of another client as a run of aider, in a history file for it alone. What a line begins with decides what aider takes
 * it for, so that an answer's headings and quotes get a space in front. Calls and results are said as the program says
 * things: a person reads them, and the model is not sent them. Pure.
 */
import type { Loss } from "../../model/report.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { textFingerprint } from "../decode.ts"
import { loss } from "../shared/losses.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type FileBlock,
  type TextBlock,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { IDENTITY, linesWith, PROMPT, START, TOLD } from "./history.ts"
import { vocabulary } from "./vocabulary.ts"

export function foreign(conversation: Conversation, { reasoning }: ForeignTarget, sink: FileSink): ForeignEnd {
  const { session, children } = conversation
  const { turns, losses } = turnsOf(conversation, vocabulary, reasoning)
  const run: Run = { text: "", losses: [...losses], isAnswering: false }
  for (const child of children) run.losses.push(loss("subagent", child.session.id, child.session.id))
  const started = new Date(session.created_at).toISOString().slice(0, 19).replace("T", " ")
  const from = `Continues the session ${session.id} of ${session.source_agent}.`
  const about = session.title === undefined ? [from] : [from, `Title: ${onOneLine(session.title)}`]
  run.text += `\n${START}${started}\n\n${linesWith(TOLD, about.map(onOneLine).join("\n"))}`
  for (const turn of turns) {
    if (turn.role === "user") addPrompts(run, turn)
    else addAnswers(run, turn)
  }
  const sessionId = textFingerprint(IDENTITY.exec(run.text)?.[1] ?? "")
  sink.file({ relativePath: `.aider.chat.history.${sessionId}.md`, form: "text", text: run.text })
  return { sessionId, losses: run.losses }
}

interface Run {
  text: string
  readonly losses: Loss[]
  /** Two answers with nothing between them would be one. */
  isAnswering: boolean
}

function onOneLine(text: string): string {
  return text.replaceAll(LINE_BREAKS, " ").trim()
}

/** What Python takes for the end of a line. */
const SEPARATORS = String.fromCharCode(0x1c, 0x1d, 0x1e, 0x85)
const LINE_BREAKS = new RegExp(`\\r\\n|[\\n\\v\\f\\r\\u2028\\u2029${SEPARATORS}]`, "g")

/** With line feeds alone. Nothing of it is seen, but another client would tell the two apart. */
function withLineFeeds(run: Run, messageId: string, text: string): string {
  const plain = text.replaceAll(LINE_BREAKS, "\n")
  const whole = plain.isWellFormed() ? plain : plain.toWellFormed()
  if (!plain.isWellFormed()) run.losses.push(loss("half_character", messageId))
  else if (whole !== text) run.losses.push(loss("line_breaks", messageId))
  return whole
}

// --- Turns of the user ----------------------------------------------------------------------------------------------------

function addPrompts(run: Run, { blocks, messageId }: UserTurn): void {
  for (const block of blocks) {
    const text = attachedText(run, messageId, block)
    if (text === undefined || text.trim() === "") continue
    const said = withLineFeeds(run, messageId, text)
    const kept = trimmedEnd(run, messageId, said)
    run.text += `\n${linesWith(PROMPT, kept)}`
    run.isAnswering = false
  }
}

/** It writes no spaces at the end of what it writes, and none are read. */
function trimmedEnd(run: Run, messageId: string, text: string): string {
  const kept = text.trimEnd()
  if (kept !== text) run.losses.push(loss("line_breaks", messageId))
  return kept
}

function attachedText(run: Run, messageId: string, block: TextBlock | FileBlock): string | undefined {
  if (block.type === "text") return block.text
  const { data, media_type: mediaType, file_name: name } = block.file
  if ("text" in data) return data.text
  run.losses.push(loss("attachment", messageId, name ?? mediaType))
  return undefined
}

// --- Turns of the model ---------------------------------------------------------------------------------------------------

function addAnswers(run: Run, { blocks, messageId }: AssistantTurn): void {
  for (const block of blocks) {
    if (block.type === "call") addCall(run, messageId, block)
    else if (block.type === "reasoning") {
      run.losses.push(loss("reasoning", messageId, block.text.slice(0, SHOWN_UNITS)))
      tell(run, block.text)
    } else {
      const text = attachedText(run, messageId, block)
      if (text !== undefined && text.trim() !== "") addAnswer(run, messageId, text)
    }
  }
}

const SHOWN_UNITS = 60

function addAnswer(run: Run, messageId: string, text: string): void {
  const said = withLineFeeds(run, messageId, text)
  const kept = said.replace(/^\s*\n/, "").trimEnd()
  const escaped = kept.replaceAll(/^(?=# |> |#### )/gm, " ")
  if (escaped !== kept) run.losses.push(loss("markup", messageId))
  else if (kept !== said) run.losses.push(loss("line_breaks", messageId))
  if (run.isAnswering) tell(run, "…")
  run.text += `\n${escaped}\n`
  run.isAnswering = true
}

function addCall(run: Run, messageId: string, { name, params, result }: CallBlock): void {
  run.losses.push(loss("tool_call", messageId, name))
  tell(run, `${name} ${JSON.stringify(params)}`)
  if (result === undefined) return
  run.losses.push(loss("tool_call", messageId, `the result of ${name}`))
  for (const piece of result.content) {
    if (piece.type === "text") tell(run, piece.text)
    else run.losses.push(loss("attachment", messageId, piece.mediaType))
  }
}

/** As the program says something. */
function tell(run: Run, text: string): void {
  run.text += `\n${linesWith(TOLD, text.replaceAll(LINE_BREAKS, "\n").toWellFormed())}`
  run.isAnswering = false
}
