/** `pond get`: a session page by page, or a message with its neighbours. */
import { PondError } from "../../model/errors.ts"
import { type GetOutput, get as operation } from "../../operations/get.ts"
import { perform } from "../../operations/operation.ts"
import type { MessageView, PartView } from "../../operations/views.ts"
import { whenText } from "../dates.ts"
import { flag } from "../flags.ts"
import { countText } from "../numbers.ts"
import type { Style } from "../style.ts"
import { defineVerb, type VerbContext } from "../verb.ts"
import { visible, visibleLine } from "../visible.ts"

const FLAGS = {
  mode: flag.choice("Of a session: what was said, every message, or everything.", [
    "conversational",
    "complete",
    "verbatim",
  ]),
  from: flag.choice("Which end of the session to read.", ["start", "end"]),
  limit: flag.wholeNumber("How many messages, or parts of a message.", { min: 1, max: 1000 }),
  after: flag.text("Go on behind this message, or this part.", "ID"),
  context: flag.wholeNumber("How many neighbours of a message on each side.", { min: 0, max: 50 }),
  session: flag.text("Which session the message is of, where several have one of its id.", "ID"),
}

export const get = defineVerb({
  flags: FLAGS,
  positionals: [{ name: "id", summary: "The id of a session or of a message.", count: "one" }],
  examples: [
    "get SESSION",
    "get SESSION --from end --limit 5",
    "get SESSION --mode verbatim --json",
    "get MESSAGE --context 3",
  ],
  run: async (context) => {
    const answer = await read(context)
    const nowMs = context.pond.host.clock.nowMs()
    return { document: { ...answer }, render: ({ style }) => render(answer, style, nowMs) }
  },
})

/** An id is a session's or a message's: whichever is there. */
async function read({ pond, flags, words, signal }: VerbContext<typeof FLAGS>): Promise<GetOutput> {
  const [id = ""] = words
  const common = {
    ...(flags.limit === undefined ? {} : { limit: flags.limit }),
    ...(flags.after === undefined ? {} : { after_id: flags.after }),
  }
  const ofSession = {
    session_id: id,
    ...common,
    ...(flags.mode === undefined ? {} : { response_mode: flags.mode }),
    ...(flags.from === undefined ? {} : { session_from: flags.from }),
  }
  const ofMessage = {
    message_id: id,
    ...common,
    context_depth: flags.context ?? 0,
    ...(flags.session === undefined ? {} : { session_id_of_message: flags.session }),
  }
  const isMessage = flags.session !== undefined || flags.context !== undefined
  if (isMessage) return await perform(operation, { pond, signal }, ofMessage)
  const sessions = await pond.sessions()
  if ((await sessions.session(id)) !== undefined) return await perform(operation, { pond, signal }, ofSession)
  try {
    return await perform(operation, { pond, signal }, ofMessage)
  } catch (error) {
    if (!(error instanceof PondError) || error.code !== "not_found") throw error
    throw new PondError(
      "not_found",
      `There is no session and no message ${visibleLine(id)} in this store. \`pond search\` finds both and prints their ids.`,
      { details: { id }, cause: error },
    )
  }
}

function render({ session, result, children }: GetOutput, style: Style, nowMs: number): string {
  const title = session.title === undefined ? "" : `  ${visibleLine(session.title)}`
  const head = `${style.bold(visibleLine(session.id))}${title}\n${style.dim(`${visibleLine(session.source_agent)} in ${visibleLine(session.project)}, begun ${whenText(session.created_at, nowMs)}`)}\n`
  const agents = children
    .map((child) => style.dim(`  also: ${visibleLine(child.id)}  ${visibleLine(child.source_agent)}\n`))
    .join("")
  if ("messages" in result) {
    const body = result.messages.map((message) => messageText(message, style, nowMs, false)).join("")
    const last = result.messages.at(-1)
    const left =
      result.messages_remaining === 0 || last === undefined
        ? ""
        : style.dim(
            `\n${countText(result.messages_remaining)} more messages: pond get ${visibleLine(session.id)} --after ${visibleLine(last.id)}\n`,
          )
    return `${head}${agents}${body}${left}`
  }
  const before = result.siblings.filter(({ ordinal }) => ordinal < result.target.ordinal)
  const after = result.siblings.filter(({ ordinal }) => ordinal > result.target.ordinal)
  const target = { ...result.target, text: undefined, parts_summary: undefined, parts: result.target_parts }
  const left =
    result.target_parts_remaining === 0
      ? ""
      : style.dim(
          `  ${countText(result.target_parts_remaining)} more parts: --after ${visibleLine(result.target_parts.at(-1)?.id ?? "")}\n`,
        )
  return [
    head,
    ...before.map((message) => messageText(message, style, nowMs, false)),
    messageText(target as unknown as MessageView, style, nowMs, true),
    left,
    ...after.map((message) => messageText(message, style, nowMs, false)),
  ].join("")
}

function messageText(message: MessageView, style: Style, nowMs: number, isTarget: boolean): string {
  const head = `\n${isTarget ? style.bold("> ") : ""}${style.cyan(message.role)} ${style.dim(`${whenText(message.timestamp, nowMs)}  ${visibleLine(message.id)}`)}\n`
  const said = [message.text, message.content].flatMap((text) => (text === undefined ? [] : [`${visible(text)}\n`]))
  const parts = (message.parts ?? []).map((part) => partText(part, style))
  const summary = (message.parts_summary ?? []).map(({ kind, label, call_id }) =>
    style.dim(
      `  ${arrow(kind)} ${visibleLine(label ?? "")}${call_id === undefined ? "" : ` [${visibleLine(call_id)}]`}\n`,
    ),
  )
  return [head, ...said, ...parts, ...summary].join("")
}

function arrow(kind: string): string {
  if (kind === "tool_call") return "->"
  return kind === "tool_result" ? "<-" : `[${kind}]`
}

function partText(part: PartView, style: Style): string {
  const { type } = part
  const call = style.dim(
    `  ${arrow(type)} ${visibleLine(String(part["name"] ?? ""))}${part["call_id"] === undefined ? "" : ` [${visibleLine(String(part["call_id"]))}]`}\n`,
  )
  if (type === "text") return `${visible(String(part["text"]))}\n`
  if (type === "reasoning") return style.dim(`  (reasoning)\n${indented(String(part["text"]))}`)
  if (type === "tool_call") return `${call}${indented(valueText(part["params"]))}`
  if (type === "tool_result") return `${call}${indented(valueText(part["result"]))}`
  return style.dim(
    `  [${type} ${visibleLine(String(part["file_name"] ?? part["media_type"] ?? part["kind"] ?? ""))}]\n`,
  )
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2)
}

function indented(text: string): string {
  return visible(text)
    .split("\n")
    .map((line) => `     ${line}\n`)
    .join("")
}
