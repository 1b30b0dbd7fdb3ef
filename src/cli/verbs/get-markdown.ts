/** `pond get SESSION --format md`: a session as a document that people read where there is no pond. */
import { extname } from "node:path"
import { PondError } from "../../model/errors.ts"
import { bytesText, counted } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { type Share, shareSession } from "../../operations/share/share.ts"
import { writeNewFile } from "../../platform/files/new-file.ts"
import type { Outcome, Streamed, VerbContext } from "../verb.ts"
import type { GetFlags } from "./get-flags.ts"

type Context = VerbContext<GetFlags>

/** Flags that choose of a session what a document has whole, or that are of a message. */
const ELSEWHERE = ["from", "limit", "after", "context", "session", "tree", "raw"] as const
const OWN = ["output", "redact", "include-subagents", "force"] as const

/** Instead of a file. */
export const STDOUT = "-"

/** Whether Markdown was asked for, with flags that go with it. */
export function isMarkdown({ flags }: Context): boolean {
  const isGiven = (name: keyof GetFlags) => flags[name] !== undefined && flags[name] !== false
  const format = flags.format ?? (flags.output === undefined ? "text" : formatOf(flags.output))
  const own = OWN.filter((name) => flags.output === undefined || (name !== "output" && name !== "force"))
  const wrong = (format === "md" ? ELSEWHERE : own).find(isGiven)
  if (wrong !== undefined) throw notTogether(wrong, format)
  return format === "md"
}

/** By the ending of the file. */
function formatOf(path: string): "md" | "text" {
  const ending = extname(path).toLowerCase()
  if (ending === ".txt") return "text"
  if (["", ".md", ".markdown"].includes(ending)) return "md"
  throw new PondError("validation_failed", `Cannot write ${ending}: use a file that ends with .md or .txt.`, {
    details: { flag: "--output", value: path },
  })
}

function notTogether(name: string, format: string): PondError {
  const message =
    format === "md"
      ? `--${name} cannot be combined with Markdown, which covers a whole session.`
      : `--${name} only applies to Markdown. Add --format md, or remove it.`
  return new PondError("validation_failed", message, { details: { flag: `--${name}` } })
}

export async function asMarkdown(context: Context): Promise<Outcome | Streamed> {
  const { flags, words, pond, signal, isJson, show, writeOut } = context
  const options = {
    sessionId: words[0] ?? "",
    isWhole: flags.mode !== "conversational",
    withSubagents: flags["include-subagents"],
    isRedacted: flags.redact,
  }
  const share = shareSession(pond, options, signal)
  if (flags.output !== undefined && flags.output !== STDOUT) {
    const bytes = await writeNewFile(flags.output, share.chunks, { isForced: flags.force })
    return outcomeOf(share, { session_id: options.sessionId, file: flags.output, bytes })
  }
  if (isJson) {
    const markdown = (await Array.fromAsync(share.chunks)).join("")
    return outcomeOf(share, { session_id: options.sessionId, markdown })
  }
  if (show === undefined) for await (const chunk of share.chunks) writeOut(chunk)
  else await show(() => share.chunks)
  return { exitCode: 0 }
}

interface Written {
  readonly session_id: string
  readonly file?: string
  readonly bytes?: number
  readonly markdown?: string
}

function outcomeOf(share: Share, written: Written): Outcome {
  const messages = share.messages()
  const replaced = share.replaced()
  const { file = "", bytes = 0 } = written
  return {
    document: { ...written, messages, ...(replaced === undefined ? {} : { replaced }) },
    render: ({ style, path }) =>
      `Wrote ${counted(messages, "message")} to ${path(file)}: ${bytesText(bytes)}.\n${redactionText(replaced, style.dim)}`,
  }
}

function redactionText(replaced: ReturnType<Share["replaced"]>, dim: (text: string) => string): string {
  if (replaced === undefined) return dim("Not redacted: --redact replaces text that looks like a credential.\n")
  const kinds = replaced.map(({ kind, count }) => `  ${counted(count, "place")}  ${visibleLine(kind)}\n`).join("")
  const what = replaced.length === 0 ? "No credentials detected.\n" : `Replaced:\n${kinds}`
  return `${what}${dim("Unusual ones can slip through: read it before you share it.\n")}`
}
