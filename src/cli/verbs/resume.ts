/** `pond resume`: a session, restored and opened in a client. */
import { PondError } from "../../model/errors.ts"
import { perform } from "../../operations/operation.ts"
import type { Pond } from "../../operations/pond.ts"
import { fullSessionId } from "../../operations/store/session-ids.ts"
import { sessions as list } from "../../operations/wire/sessions.ts"
import { createBrowser } from "../browse/browser.ts"
import { sessionSource } from "../browse/session-source.ts"
import type { Wish } from "../browse/view.ts"
import { flag } from "../flags.ts"
import { here } from "../project-flag.ts"
import { defineVerb, type VerbContext } from "../verb.ts"
import { continueSession, dryRun, planOpenable } from "./continue-session.ts"
import { restoreArguments, restoreOptions } from "./restore.ts"

const RESUME_FLAGS = {
  ...restoreArguments.flags,
  yes: flag.onOff("Resume without asking, even if the session came from an export file, a copied store or over HTTP."),
}

export const resume = defineVerb({
  flags: {
    ...RESUME_FLAGS,
    last: flag.onOff("Resume the session that was active last."),
    here: flag.onOff("Only sessions of the repository or directory you are in."),
  },
  positionals: [
    {
      name: "session",
      words: "sessions",
      summary: "The id of the session. Without one, choose from a list, filtered by any words given.",
      count: "many",
    },
  ],
  examples: [
    "resume",
    "resume --last",
    "resume --here",
    "resume login bug",
    "resume SESSION",
    "resume SESSION --to claude-code --cwd ~/work",
    "resume SESSION --anew --cwd ~/work",
  ],
  run: async (context) => {
    const { pond, flags } = context
    const { id, to } = await sessionToResume(context)
    const options = { ...restoreOptions({ ...context, words: [id] }), ...(to === undefined ? {} : { to }) }
    if (flags["dry-run"]) {
      using plan = await planOpenable(pond, options)
      return dryRun(pond, plan, options)
    }
    return { exitCode: await continueSession({ ...context, isSure: flags.yes, isLast: true }, options) }
  },
})

interface ResumeContext
  extends Pick<VerbContext<typeof restoreArguments.flags>, "pond" | "words" | "openScreen" | "signal" | "page"> {
  readonly flags: { readonly last: boolean; readonly here: boolean }
}

/** A session by its id, the last one, or one chosen from a list. */
async function sessionToResume(context: ResumeContext): Promise<Wish> {
  const { pond, words, openScreen, signal, flags } = context
  const [word, ...others] = words
  const project = flags.here ? { project: { within: here().within } } : undefined
  if (flags.last) {
    const { sessions: found } = await perform(list, { pond, signal }, { limit: 1, filters: project ?? {} })
    const [newest] = found
    if (newest !== undefined && words.length === 0) return { id: newest.session_id }
    throw newest === undefined
      ? new PondError("not_found", "No session to resume. `pond sync` stores new ones.")
      : new PondError("validation_failed", "--last cannot be combined with a session or words.")
  }
  const isId = word !== undefined && others.length === 0
  if (isId && (openScreen === undefined || (await isStored(pond, word)))) return { id: word }
  return await chooseSession(context, { query: words.join(" "), filters: project })
}

async function isStored(pond: Pond, id: string): Promise<boolean> {
  const sessions = await pond.sessions()
  return (await sessions.session(await fullSessionId(sessions, id))) !== undefined
}

interface Asked {
  readonly query: string
  readonly filters: object | undefined
}

async function chooseSession(
  { pond, openScreen, signal, page }: ResumeContext,
  { query, filters }: Asked,
): Promise<Wish> {
  if (openScreen === undefined) {
    throw new PondError(
      "validation_failed",
      "Missing SESSION: name one, or run pond resume on a terminal to choose. `pond search` finds sessions.",
      { details: { argument: "session" } },
    )
  }
  const source = await sessionSource({ pond, signal, page }, filters)
  if (source === undefined) {
    const empty = filters === undefined ? "The store is empty." : "No session of this directory is stored."
    throw new PondError("not_found", `${empty} Run \`pond sync\`.`)
  }
  const browser = createBrowser({ open: openScreen, source, prompt: "Resume", query, enter: "resume" })
  const wish = await browser.show()
  browser.close()
  if (wish === undefined) throw new PondError("interrupted", "No session chosen.")
  return wish
}
