/** `pond get SESSION -o x.atif.json` and its like: sessions in the formats of other tools for traces. */
import { mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { PondError } from "../../model/errors.ts"
import { bytesText, counted, countText } from "../../model/numbers.ts"
import { chosenSessions } from "../../operations/share/site.ts"
import { shareTraces, type TraceFormat, type TraceShare } from "../../operations/share/traces/share-trace.ts"
import { writeNewFile } from "../../platform/files/new-file.ts"
import { projectFilterOf } from "../project-flag.ts"
import type { Outcome, Streamed, VerbContext } from "../verb.ts"
import { redactionText, STDOUT } from "./get-document.ts"
import type { GetFlags } from "./get-flags.ts"

type Context = VerbContext<GetFlags>

const ELSEWHERE = ["from", "limit", "after", "context", "session", "tree", "raw", "mode", "include-subagents"] as const

/** The flags go with the format; what is said of a document does not. */
function checkFlags({ flags }: Context, format: TraceFormat): void {
  const wrong = ELSEWHERE.find((name) => flags[name] !== undefined && flags[name] !== false)
  if (wrong === undefined) return
  const message = `--${wrong} cannot be combined with ${format}, which covers a whole session and its sub-agents.`
  throw new PondError("validation_failed", message, { details: { flag: `--${wrong}` } })
}

export async function asTrace(context: Context, format: TraceFormat): Promise<Outcome | Streamed> {
  checkFlags(context, format)
  const { flags, words, pond, signal, isJson, show, writeOut } = context
  const share = shareTraces(pond, { format, isRedacted: flags.redact }, signal)
  const id = words[0] ?? ""
  if (flags.output !== undefined && flags.output !== STDOUT) {
    const bytes = await writeNewFile(flags.output, share.file(id), { isForced: flags.force })
    return writtenOutcome(share, { session_id: id, file: flags.output, bytes, sessions: 1 })
  }
  if (isJson) {
    const text = (await Array.fromAsync(share.file(id))).join("")
    return writtenOutcome(share, { session_id: id, [format]: text, sessions: 1 })
  }
  if (show === undefined) for await (const chunk of share.file(id)) writeOut(chunk)
  else await show(() => share.file(id))
  return { exitCode: 0 }
}

/** Several sessions, or all of a project: a file for each, below a directory. */
export async function asTraces(context: Context, format: TraceFormat): Promise<Outcome> {
  checkFlags(context, format)
  const { flags, words, pond, signal, progress } = context
  const { output: directory } = flags
  if (directory === undefined || directory === STDOUT)
    throw new PondError(
      "validation_failed",
      "Several sessions are written as files into a directory: name one with -o DIR.",
      { details: { flag: "--output" } },
    )
  const filters = flags.project === undefined ? undefined : { project: projectFilterOf(flags.project) }
  const ids = await chosenSessions(pond, { ids: words, filters }, signal)
  const share = shareTraces(pond, { format, isRedacted: flags.redact }, signal)
  let [bytes, files] = [0, 0]
  progress.stage("write", "traces", ids.length)
  for await (const { name, chunks } of share.files(ids)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    bytes += await writeNewFile(join(directory, name), chunks, { isForced: flags.force })
    progress.at(Math.min(++files, ids.length), name)
  }
  return writtenOutcome(share, { session_ids: ids, directory, bytes, files, sessions: ids.length })
}

interface Written {
  readonly sessions: number
  readonly session_id?: string
  readonly session_ids?: readonly string[]
  readonly file?: string
  readonly directory?: string
  readonly files?: number
  readonly bytes?: number
}

function writtenOutcome(share: TraceShare, { sessions, ...written }: Written): Outcome {
  const [messages, losses, replaced] = [share.messages(), share.losses(), share.replaced()]
  const { file, directory = "", bytes = 0 } = written
  const what = file === undefined ? counted(sessions, "session") : counted(messages, "message")
  const left = losses.map(({ found, count }) => `${countText(count)} × ${found}`).join("; ")
  return {
    document: { ...written, messages, losses, ...(replaced === undefined ? {} : { replaced }) },
    render: ({ style, path }) =>
      [
        `Wrote ${what} to ${path(file ?? directory)}: ${bytesText(bytes)}.\n`,
        left === "" ? "" : `The format has no place for: ${left}.\n`,
        redactionText(replaced, style.dim),
      ].join(""),
  }
}
