/** `pond get SESSION SESSION… -o DIR` and `pond get --project TEXT -o DIR`: pages in a directory, with one that lists them. */
import { mkdirSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { PondError } from "../../model/errors.ts"
import { bytesText, counted } from "../../model/numbers.ts"
import { chosenSessions, INDEX_NAME, shareSite } from "../../operations/share/site.ts"
import { writeNewFile } from "../../platform/files/new-file.ts"
import { projectFilterOf } from "../project-flag.ts"
import type { Outcome, VerbContext } from "../verb.ts"
import { redactionText } from "./get-document.ts"
import type { GetFlags } from "./get-flags.ts"

type Context = VerbContext<GetFlags>

const OF_ONE = ["from", "limit", "after", "context", "session", "tree", "raw", "format"] as const

export async function asSite(context: Context): Promise<Outcome> {
  const { pond, words, flags, signal, progress } = context
  const directory = pagesDirectory(context)
  const filters = flags.project === undefined ? undefined : { project: projectFilterOf(flags.project) }
  const sessionIds = await chosenSessions(pond, { ids: words, filters }, signal)
  if (sessionIds.length === 0)
    throw new PondError(
      "not_found",
      `No session in a project that matches ${flags.project}. \`pond list\` shows the projects.`,
    )
  const title = flags.project === undefined ? undefined : await projectTitle(context, sessionIds)
  const options = { sessionIds, isWhole: flags.mode !== "conversational", isRedacted: flags.redact, title }
  const site = shareSite(pond, options, signal)
  mkdirSync(directory, { recursive: true })
  let [bytes, pages] = [0, 0]
  progress.stage("write", "pages", sessionIds.length + 1)
  for await (const { name, chunks } of site.files()) {
    bytes += await writeNewFile(join(directory, name), chunks, { isForced: flags.force })
    progress.at(++pages, name)
  }
  const file = join(directory, INDEX_NAME)
  const replaced = site.replaced()
  const [messages, url] = [site.messages(), pathToFileURL(resolve(file)).href]
  return {
    document: {
      ...{ session_ids: sessionIds, directory, file, url, pages, bytes, messages },
      ...(replaced === undefined ? {} : { replaced }),
    },
    render: ({ style, path }) =>
      `Wrote ${counted(pages - 1, "page")} and ${basename(file)} to ${path(directory)}: ${counted(messages, "message")}, ${bytesText(bytes)}.\n${redactionText(replaced, style.dim)}`,
  }
}

function pagesDirectory({ flags }: Context): string {
  const wrong = OF_ONE.find((name) => flags[name] !== undefined && flags[name] !== false)
  if (wrong !== undefined)
    throw new PondError("validation_failed", `--${wrong} is for one session, and not for several.`, {
      details: { flag: `--${wrong}` },
    })
  const { output } = flags
  const isFile = output !== undefined && (output === "-" || /\.(?:html?|md|markdown|txt|json)$/i.test(output))
  if (output === undefined || isFile)
    throw new PondError(
      "validation_failed",
      "Several sessions are written as pages into a directory: name one with -o DIR.",
      { details: { flag: "--output" } },
    )
  return output
}

/** As the sessions have it, where it is one project; else what was asked for. */
async function projectTitle({ pond, flags }: Context, ids: readonly string[]): Promise<string | undefined> {
  const found = await (await pond.sessions()).sessions(ids)
  return new Set(found.map(({ project }) => project)).size === 1 ? undefined : flags.project
}
