/** `pond get`: a session page by page, or a message with its neighbours. */
import { PondError, toPondError } from "../../model/errors.ts"
import { bytesText, counted } from "../../model/numbers.ts"
import { visible, visibleLine } from "../../model/visible.ts"
import { PROTOCOL_VERSION } from "../../operations/envelope.ts"
import { perform } from "../../operations/operation.ts"
import { withFullSessionId } from "../../operations/store/session-ids.ts"
import { type GetOutput, get as operation } from "../../operations/wire/get.ts"
import { writeNewFile } from "../../platform/files/new-file.ts"
import { missing } from "../flags.ts"
import { messagePages, PAGE_MESSAGES } from "../message-pages.ts"
import { createStyle, type Style } from "../render/style.ts"
import {
  headText,
  messagesText,
  neighbourhoodText,
  remainderText,
  type TranscriptLayout,
} from "../render/transcript.ts"
import { defineVerb, type Page, type VerbContext } from "../verb.ts"
import { asDocument, isDocument, isJsonFile, STDOUT, traceAsked } from "./get-document.ts"
import { type GetFlags, getArguments } from "./get-flags.ts"

const ID_MISSING =
  "`pond list` and `pond search` print the ids of sessions and messages, `pond browse` lets you choose."
const ID_SUMMARY = "The id of a session or of a message. Several sessions with -o DIR."

export const get = defineVerb({
  flags: getArguments.flags,
  positionals: [{ name: "id", summary: ID_SUMMARY, count: "many", words: "sessions" }],
  examples: [
    "get SESSION",
    "get SESSION --from end --limit 5",
    "get SESSION --mode verbatim --json",
    "get MESSAGE --context 3",
    "get SESSION --tree",
    "get MESSAGE --raw",
    "get SESSION -o session.html --redact",
    "get SESSION -o session.md --redact",
    "get SESSION -o session.atif.json --redact",
    "get SESSION SESSION -o pages --redact",
    "get --project shop -o dataset --format traces --redact",
  ],
  run: async (context) => {
    const { pond, words } = context
    const { clock, environment } = pond.host
    const trace = traceAsked(context.flags)
    const isMany = words.length > 1 || context.flags.project !== undefined
    if (isMany && trace !== undefined) return await (await import("./get-trace.ts")).asTraces(context, trace)
    if (isMany) return await (await import("./get-site.ts")).asSite(context)
    if (words.length === 0) throw missing("ID", ID_MISSING, { argument: "id" })
    if (trace !== undefined) {
      const { asTrace } = await import("./get-trace.ts")
      return await withFullSessionId(pond, words[0] ?? "", (id) => asTrace({ ...context, words: [id] }, trace))
    }
    if (isDocument(context)) {
      return await withFullSessionId(pond, words[0] ?? "", (id) => asDocument({ ...context, words: [id] }))
    }
    const answer = await read(context)
    const layout = (page: Page): TranscriptLayout => ({ ...page, nowMs: clock.nowMs(), home: environment["HOME"] })
    const { output, force } = context.flags
    if (output !== undefined && output !== STDOUT) {
      const page = { ...layout(context.page), style: createStyle(false), columns: TEXT_COLUMNS }
      const chunks = isJsonFile(output) ? wholeJson(context, answer) : allPages(context, answer, page)
      const bytes = await writeNewFile(output, chunks, { isForced: force })
      const document = { session_id: answer.session.id, file: output, bytes }
      return { document, render: ({ path }) => `Wrote ${path(output)}: ${bytesText(bytes)}.\n` }
    }
    if (context.show === undefined && !context.isJson) {
      for await (const chunk of allPages(context, answer, layout(context.page))) context.writeOut(chunk)
      return { exitCode: 0 }
    }
    if (context.show === undefined) {
      return { document: { ...answer }, render: (page) => onePage(answer, context.flags.from === "end", layout(page)) }
    }
    await context.show((page) => allPages(context, answer, layout(page)))
    return { exitCode: 0 }
  },
})

function onePage(answer: GetOutput, isFromEnd: boolean, layout: TranscriptLayout): string {
  const { tree, record } = answer
  if (record !== undefined) return `${visible(record.text ?? record.base64 ?? "")}\n`
  if (tree !== undefined) return treeText(tree, layout.style)
  const body =
    "messages" in answer.result ? messagesText(answer.result.messages, layout) : neighbourhoodText(answer, layout)
  return `${headText(answer, layout)}${body}${remainderText(answer, isFromEnd, layout)}`
}

/** Of a text file. */
const TEXT_COLUMNS = 100
/** The whole session, a page at a time as it is read, unless a part of it was asked for. */
async function* allPages(
  context: VerbContext<GetFlags>,
  first: GetOutput,
  layout: TranscriptLayout,
): AsyncGenerator<string> {
  if (isPart(context, first)) {
    yield onePage(first, context.flags.from === "end", layout)
    return
  }
  yield headText(first, layout)
  for await (const messages of messagePages(context, first, context.flags.mode)) yield messagesText(messages, layout)
}

/** The document that `--json` prints, but with all messages of the session where no part was asked for. */
async function* wholeJson(context: VerbContext<GetFlags>, first: GetOutput): AsyncGenerator<string> {
  if (isPart(context, first)) {
    yield `${JSON.stringify({ protocol_version: PROTOCOL_VERSION, ...first })}\n`
    return
  }
  const { result: _, ...rest } = first
  yield `${JSON.stringify({ protocol_version: PROTOCOL_VERSION, ...rest }).slice(0, -1)},"result":{"messages":[`
  let separator = ""
  for await (const messages of messagePages(context, first, context.flags.mode)) {
    if (messages.length === 0) continue
    yield `${separator}\n${messages.map((message) => JSON.stringify(message)).join(",\n")}`
    separator = ","
  }
  yield '\n],"messages_remaining":0}}\n'
}

function isPart(context: VerbContext<GetFlags>, { result }: GetOutput): boolean {
  return isPartAsked(context) || !("messages" in result)
}

function isPartAsked({ flags }: VerbContext<GetFlags>): boolean {
  return flags.limit !== undefined || flags.after !== undefined || flags.from === "end" || flags.tree === true
}

/** An id is a session's or a message's: whichever is there. */
async function read(context: VerbContext<GetFlags>): Promise<GetOutput> {
  const { pond, flags, words, signal } = context
  const [id = ""] = words
  const ask = (input: object) => perform(operation, { pond, signal }, input)
  if (flags.session !== undefined || flags.context !== undefined || flags.raw) return await ask(ofMessage(context, id))
  const isSession = flags.tree || flags.mode !== undefined || flags.from !== undefined
  try {
    return await ask(ofSession(context, id))
  } catch (error) {
    // Not the session but the message behind which a page begins may be what is not there.
    if (isSession || !isAbsent(error) || error.details["after_id"] !== undefined) throw error
  }
  const found = await ask(ofMessage(context, id)).catch((error: unknown) => toPondError(error))
  if (!(found instanceof PondError)) return found as GetOutput
  if (!isAbsent(found)) throw found
  throw new PondError(
    "not_found",
    `No session or message ${visibleLine(id)} in this store. \`pond search\` prints ids of both.`,
    { details: { id }, cause: found },
  )
}

function isAbsent(error: unknown): error is PondError {
  return error instanceof PondError && error.code === "not_found" && error.details["matches"] === undefined
}

/** Of a session that is shown whole the first page is as long as the others. What `--json` prints is one page. */
function ofSession(context: VerbContext<GetFlags>, id: string): object {
  const { isJson, flags } = context
  const isWhole = !isPartAsked(context) && (!isJson || (flags.output !== undefined && flags.output !== STDOUT))
  return { ...getArguments.inputOf(context), session_id: id, ...(isWhole ? { limit: PAGE_MESSAGES } : {}) }
}

function ofMessage(context: VerbContext<GetFlags>, id: string): object {
  const { response_mode: _, session_from: __, tree: ___, ...given } = getArguments.inputOf(context)
  return { ...given, message_id: id }
}

function treeText(tree: NonNullable<GetOutput["tree"]>, style: Style): string {
  const line = ({ session, depth, messages }: (typeof tree)[number]) =>
    [
      "  ".repeat(depth),
      style.bold(visibleLine(session.id)),
      style.dim(`  ${visibleLine(session.source_agent)}, ${counted(messages, "message")}`),
      session.title === undefined ? "" : `  ${visibleLine(session.title)}`,
      "\n",
    ].join("")
  return tree.map(line).join("")
}
