/** `pond get SESSION --format md` and `html`: a session as a document that people read where there is no pond. */
import { extname } from "node:path"
import { PondError } from "../../model/errors.ts"
import { bytesText, counted } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import type { Share } from "../../operations/share/share.ts"
import type { TraceFormat } from "../../operations/share/traces/share-trace.ts"
import { writeNewFile } from "../../platform/files/new-file.ts"
import type { Outcome, Streamed, VerbContext } from "../verb.ts"
import type { GetFlags } from "./get-flags.ts"

type Context = VerbContext<GetFlags>

/** Flags that choose of a session what a document has whole, or that are of a message. */
const ELSEWHERE = ["from", "limit", "after", "context", "session", "tree", "raw"] as const
const OWN = ["output", "redact", "include-subagents", "force"] as const

/** Instead of a file. */
export const STDOUT = "-"

type Format = "text" | "md" | "html" | TraceFormat

/** Whether a document was asked for, with flags that go with it. */
export function isDocument({ flags }: Context): boolean {
  const isGiven = (name: keyof GetFlags) => flags[name] !== undefined && flags[name] !== false
  const format = formatAsked(flags)
  const own = OWN.filter((name) => flags.output === undefined || (name !== "output" && name !== "force"))
  const wrong = (format === "text" ? own : ELSEWHERE).find(isGiven)
  if (wrong !== undefined) throw notTogether(wrong, format)
  return format !== "text"
}

/** The format of other tools that was asked for, by its name or by the ending of the file. */
export function traceAsked(flags: Context["flags"]): TraceFormat | undefined {
  return TRACES.find((each) => each === formatAsked(flags))
}

const TRACES: readonly TraceFormat[] = ["atif", "otlp", "traces"]
/** Before `.json` alone, which is the document for programs. */
const TRACE_ENDINGS: readonly (readonly [RegExp, TraceFormat])[] = [
  [/(?:^|[./\\])(?:atif|trajectory)\.json$/i, "atif"],
  [/\.(?:otlp|otel)\.json$/i, "otlp"],
  [/\.jsonl$/i, "traces"],
]

function formatAsked({ format, output }: Context["flags"]): Format {
  return format ?? (output === undefined ? "text" : formatOf(output))
}

/** By the ending of the file. */
function formatOf(path: string): Format {
  const ending = extname(path).toLowerCase()
  const trace = TRACE_ENDINGS.find(([form]) => form.test(path))
  if (trace !== undefined) return trace[1]
  if (ending === ".txt" || isJsonFile(path)) return "text"
  if ([".html", ".htm"].includes(ending)) return "html"
  if (["", ".md", ".markdown"].includes(ending)) return "md"
  throw new PondError(
    "validation_failed",
    `Cannot write ${ending}: use a file that ends with .html, .md, .txt, .json, .atif.json, .otlp.json or .jsonl.`,
    {
      details: { flag: "--output", value: path },
    },
  )
}

/** The document for programs, of the whole session. */
export function isJsonFile(path: string): boolean {
  return extname(path).toLowerCase() === ".json"
}

function notTogether(name: string, format: Format): PondError {
  const message =
    format === "text"
      ? `--${name} only applies to Markdown and HTML. Add --format md or html, or remove it.`
      : `--${name} cannot be combined with ${format === "md" ? "Markdown" : "HTML"}, which covers a whole session.`
  return new PondError("validation_failed", message, { details: { flag: `--${name}` } })
}

export async function asDocument(context: Context): Promise<Outcome | Streamed> {
  const { flags, words, pond, signal, isJson, show, writeOut } = context
  const format = formatAsked(flags) === "html" ? ("html" as const) : ("md" as const)
  const options = {
    sessionId: words[0] ?? "",
    isWhole: flags.mode !== "conversational",
    // A page folds them where they belong; in Markdown they would stand at the end.
    withSubagents: flags["include-subagents"] || format === "html",
    isRedacted: flags.redact,
    format,
  }
  const { shareSession } = await import("../../operations/share/share.ts")
  const share = shareSession(pond, options, signal)
  if (flags.output !== undefined && flags.output !== STDOUT) {
    const bytes = await writeNewFile(flags.output, share.chunks, { isForced: flags.force })
    return outcomeOf(share, { session_id: options.sessionId, file: flags.output, bytes })
  }
  if (isJson) {
    const text = (await Array.fromAsync(share.chunks)).join("")
    return outcomeOf(share, { session_id: options.sessionId, [format === "md" ? "markdown" : "html"]: text })
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
  readonly html?: string
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

/** What was taken out of what was written, and that it should be read. */
export function redactionText(replaced: ReturnType<Share["replaced"]>, dim: (text: string) => string): string {
  if (replaced === undefined) return dim("Not redacted: --redact replaces text that looks like a credential.\n")
  const kinds = replaced.map(({ kind, count }) => `  ${counted(count, "place")}  ${visibleLine(kind)}\n`).join("")
  const what = replaced.length === 0 ? "No credentials detected.\n" : `Replaced:\n${kinds}`
  return `${what}${dim("Unusual ones can slip through: read it before you share it.\n")}`
}
