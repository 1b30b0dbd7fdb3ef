/** `pond get`: a session page by page, or a message with its neighbours. */
import { PondError } from "../../model/errors.ts"
import { type GetOutput, get as operation } from "../../operations/get.ts"
import { perform } from "../../operations/operation.ts"
import type { MessageView } from "../../operations/views.ts"
import { flag } from "../flags.ts"
import { headText, messagesText, neighbourhoodText, remainderText, type TranscriptLook } from "../transcript.ts"
import { defineVerb, type Page, type VerbContext } from "../verb.ts"
import { visibleLine } from "../visible.ts"

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
    const { clock, environment } = context.pond.host
    const look = (page: Page): TranscriptLook => ({ ...page, nowMs: clock.nowMs(), home: environment["HOME"] })
    if (context.show === undefined) {
      return { document: { ...answer }, render: (page) => onePage(answer, context.flags.from === "end", look(page)) }
    }
    await context.show((page) => allPages(context, answer, look(page)))
    return { exitCode: 0 }
  },
})

function onePage(answer: GetOutput, isFromEnd: boolean, look: TranscriptLook): string {
  const body =
    "messages" in answer.result ? messagesText(answer.result.messages, look) : neighbourhoodText(answer, look)
  return `${headText(answer, look)}${body}${remainderText(answer, isFromEnd, look)}`
}

const PAGE_MESSAGES = 200

/** Whoever reads on a terminal and asked for no part of it gets the session to its end, a page at a time as it is read. */
async function* allPages(
  { pond, flags, signal }: VerbContext<typeof FLAGS>,
  first: GetOutput,
  look: TranscriptLook,
): AsyncGenerator<string> {
  const isPart = flags.limit !== undefined || flags.after !== undefined || flags.from === "end"
  if (isPart || !("messages" in first.result)) {
    yield onePage(first, flags.from === "end", look)
    return
  }
  yield headText(first, look)
  const next = (after: string): Promise<GetOutput> =>
    perform(
      operation,
      { pond, signal },
      {
        session_id: first.session.id,
        after_id: after,
        limit: PAGE_MESSAGES,
        ...(flags.mode === undefined ? {} : { response_mode: flags.mode }),
      },
    )
  let result: GetOutput["result"] = first.result
  while ("messages" in result) {
    yield messagesText(result.messages, look)
    const last: MessageView | undefined = result.messages.at(-1)
    if (result.messages_remaining === 0 || last === undefined) return
    result = (await next(last.id)).result
  }
}

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
