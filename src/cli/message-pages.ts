/** The messages of a session, a page at a time as they are read. */
import { perform, type RunContext } from "../operations/operation.ts"
import { type GetOutput, get } from "../operations/wire/get.ts"
import type { MessageView } from "../operations/wire/views.ts"

/** Each page looks up its session again, which costs as much as a hundred messages: 7 reads, a fifth of a short `get`. */
export const PAGE_MESSAGES = 200

/** Behind a first page, whatever that holds. */
export async function* messagePages(
  context: RunContext,
  first: GetOutput,
  mode: string | undefined,
): AsyncGenerator<readonly MessageView[]> {
  const next = (after: string): Promise<GetOutput> => {
    const how = mode === undefined ? {} : { response_mode: mode }
    return perform(get, context, { session_id: first.session.id, after_id: after, limit: PAGE_MESSAGES, ...how })
  }
  let result: GetOutput["result"] = first.result
  while ("messages" in result) {
    yield result.messages
    const last: MessageView | undefined = result.messages.at(-1)
    if (result.messages_remaining === 0 || last === undefined) return
    result = (await next(last.id)).result
  }
}
