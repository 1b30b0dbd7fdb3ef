/** `pond sync`: what the clients have written, into the store. */
import { PondError } from "../../model/errors.ts"
import { bytesText, counted, countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { type planDocument, type SyncHooks, type SyncOutcome, syncExitCode } from "../../operations/machine/sync.ts"
import { sync as operation, watch as watchOperation } from "../../operations/machine/sync-operations.ts"
import type { unreadOf } from "../../operations/machine/unread.ts"
import { perform } from "../../operations/operation.ts"
import { pondCommand } from "../../platform/process/shell-word.ts"
import { type Flags, type FlagValues, flag } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import type { Style } from "../render/style.ts"
import { ageText, issueLine, NO_SOURCES, unidentifiedText, unreadText } from "../render/sync-text.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Outcome, type Page, type Streamed, type VerbContext } from "../verb.ts"

type Report = SyncOutcome
type Unread = Awaited<ReturnType<typeof unreadOf>>
type Plan = ReturnType<typeof planDocument>

const WORDS = [{ field: "adapters", name: "client", words: "adapters" }] as const

const args = argumentsFor(
  operation.input,
  {
    path: { hint: "DIR" },
    only: {},
    skip: {},
    "dry-run": {},
    full: {},
    "no-wait": {},
    watch: flag.onOff("Keep running and store every change within two seconds. Ctrl-C stops it."),
  },
  WORDS,
)

export const sync = defineVerb({
  flags: args.flags,
  positionals: args.positionals,
  examples: ["sync", "sync claude-code codex", "sync --dry-run", "sync pi --path ~/backup/pi-sessions", "sync --watch"],
  lifetime: (flags) => (flags.watch ? "server" : "command"),
  run: async (context) => {
    const { flags, pond } = context
    if (flags.watch && flags["dry-run"]) throw neverEnds()
    const request = args.inputOf(context)
    if (flags.watch) return await watchAndPrint(context, request)
    const report = await syncWithProgress(context, request)
    if ("dry_run" in report) return outcomeOfPlan(report)
    if (report.interrupted) throw new PondError("interrupted", stoppedText(storedIn(report)))
    const isQuiet = pond.host.log.level === "quiet"
    return outcomeOfSync(report, { unread: report.unread, isImport: isImportAsked(flags), isQuiet })
  },
})

type Showing = Pick<VerbContext<Flags>, "pond" | "progress" | "signal" | "ifLeft" | "onEnd">

export async function syncWithProgress(
  context: Showing,
  request: object,
): Promise<Awaited<ReturnType<typeof operation.run>>> {
  return await perform(operation, { pond: context.pond, ...syncHooks(context) }, request)
}

/** With a bar for each client, and a word of how far it came where nobody waits for it to stop. */
export function syncHooks({ progress, signal, ifLeft, onEnd }: Showing): SyncHooks & Pick<Showing, "signal"> {
  let isEmbedding = false
  let stored = 0
  ifLeft(() => new PondError("interrupted", stoppedText(stored, "At least ")))
  return {
    signal,
    onEnd,
    onPlan: (plan) => progress.stage(plan.adapter.id, "bytes", plan.bytesToRead),
    onProgress: (_, bytes, unit) => progress.at(bytes, unit),
    onStored: (messages) => {
      stored += messages
    },
    onStage: (stage) => progress.stage(stage, "tables"),
    onEmbedded: ({ embedded, total }) => {
      if (isEmbedding) progress.at(embedded)
      else progress.stage("embed", "messages", total)
      isEmbedding = true
    },
  }
}

function neverEnds(): PondError {
  return new PondError("validation_failed", "--dry-run and --watch cannot be combined.", {
    details: { flags: ["--watch", "--dry-run"] },
  })
}

const watchArguments = argumentsFor(watchOperation.input, { path: { hint: "DIR" } }, WORDS)

export const watch = defineVerb({
  flags: watchArguments.flags,
  positionals: watchArguments.positionals,
  examples: ["watch", "watch claude-code"],
  lifetime: () => "server",
  run: async (context) => await watchAndPrint(context, watchArguments.inputOf(context)),
})

/** One line for each round that stored something, or met a fault: words, or with `--json` one document a line. */
async function watchAndPrint(context: VerbContext<Flags>, request: object): Promise<Streamed> {
  const { pond, isJson, signal, writeOut, page } = context
  const reported = new Set<string>()
  const names = context.words.length === 0 ? "every client" : context.words.join(", ")
  pond.host.log.info(`Watching ${names}. Ctrl-C stops it.`)
  context.ifLeft(() => new PondError("interrupted", "Stopped. The next `pond sync` stores the rest."))
  const onReport = (report: Report) => {
    const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" }).format(pond.host.clock.nowMs())
    if (isJson) writeOut(`${JSON.stringify({ protocol_version: 1, ...report })}\n`)
    else writeOut(`${newsOf(report, time)}${issuesOf(report, reported, page.style).join("")}`)
  }
  await perform(watchOperation, { pond, signal, onReport }, request)
  return { exitCode: 0, isEndedBySignal: true }
}

function newsOf({ adapters, embed }: Report, time: string): string {
  const embedded = embedText(embed)
  const stored = adapters
    .filter(({ messages, sessions }) => messages.new + sessions.failed > 0)
    .map(({ adapter, sessions, messages }) => {
      const touched = sessions.new + sessions.grown + sessions.rewritten
      return `${time}  ${adapter}: ${counted(messages.new, "message")} in ${counted(touched, "session")}\n`
    })
    .join("")
  return embedded === "" ? stored : `${stored}${time}  ${embedded}`
}

/** Of a round. What is not understood is reported once, and a fault, which may lie there for as long as it is watched, too. */
function issuesOf({ adapters }: Report, reported: Set<string>, style: Style): string[] {
  return adapters.flatMap(({ adapter, issues }) =>
    issues.flatMap((group) => {
      const { kind, severity, example } = group
      const place = severity === "fault" ? `${example.file} ${example.record}` : ""
      const key = `${adapter} ${kind} ${place}`
      if (reported.has(key)) return []
      reported.add(key)
      return [issueLine(adapter, group, style)]
    }),
  )
}

function storedIn({ adapters }: Report): number {
  return adapters.reduce((sum, { messages }) => sum + messages.new, 0)
}

/** Of a sync that was left behind, a commit may have been under way. */
function stoppedText(stored: number, least = ""): string {
  const what = stored === 1 ? "message is" : "messages are"
  return stored === 0
    ? "Stopped. Nothing new was stored; the next `pond sync` starts from the same point."
    : `Stopped. ${least}${countText(stored)} new ${what} stored; the next \`pond sync\` continues from there.`
}

// --- What was done ----------------------------------------------------------------------------------------------------

interface Around {
  readonly unread?: Unread
  /** Whether sources were looked for at all. */
  readonly isImport?: boolean
  readonly isQuiet?: boolean
}

function isImportAsked({ only, skip }: FlagValues<typeof args.flags>): boolean {
  return (only.length === 0 || only.includes("import")) && !skip.includes("import")
}

function outcomeOfSync(report: Report, around: Around): Outcome {
  return {
    document: { ...report, unread: around.unread },
    exitCode: syncExitCode(report),
    render: (page) => (around.isQuiet === true ? quietText(report) : renderSynced(report, page, around)),
  }
}

/** For schedulers, whose journal would get a table four times an hour: a line where something was stored. */
function quietText(report: Report): string {
  const stored = storedIn(report)
  const sessions = report.adapters.reduce(
    (sum, { sessions: { new: fresh, grown, rewritten } }) => sum + fresh + grown + rewritten,
    0,
  )
  const line = stored === 0 ? "" : `${counted(stored, "message")} stored, of ${counted(sessions, "session")}.\n`
  return `${line}${embedText(report.embed)}`
}

export function renderSynced(report: Report, page: Page, { unread = [], isImport = true }: Around = {}): string {
  const embedded = embedText(report.embed)
  const others = unread
    .map((client) =>
      page.prose(`${page.style.magenta("warning")}  ${unreadText(client)}.
`),
    )
    .join("")
  if (!isImport) return `${stagesText(report)}${others}`
  const end = report.interrupted
    ? page.prose(`${page.style.magenta("warning")}  ${stoppedText(storedIn(report))}\n`)
    : ""
  if (report.adapters.length === 0 && report.interrupted) return end
  if (report.adapters.length === 0) return `${embedded === "" ? NO_SOURCES : embedded}${others}`
  const said = [...report.adapters.flatMap((root) => remarks(root, page.style)), ...issueLines(report, page.style)]
  const remarked = said.map((each) => page.prose(each))
  return `${embedded}${tableOf(report, page)}${remarked.join("")}${others}${end}`
}

/** Of a sync that read no sources. */
function stagesText({ embed, index }: Report): string {
  const folded = index === null ? "" : "Indexes are up to date.\n"
  const model = typeof embed === "object" && embed !== null && "model" in embed ? embed.model : undefined
  if (model !== undefined) return `${embedText(embed) || `All messages are already embedded with ${model}.\n`}${folded}`
  return folded === "" ? "No embedding model is configured; see `pond help embeddings`.\n" : folded
}

/** Nothing where no model is configured, or nothing was left to embed. */
function embedText(embed: Report["embed"]): string {
  if (typeof embed !== "object" || embed === null || !("embedded" in embed) || !("model" in embed)) return ""
  const left = "left" in embed ? Number(embed.left) : 0
  const rest = left === 0 ? "" : `; ${countText(left)} left for the next sync`
  return Number(embed.embedded) === 0
    ? ""
    : `${counted(Number(embed.embedded), "message")} embedded with ${embed.model}${rest}.\n`
}

function tableOf({ adapters, ms }: Report, { style, columns }: Page): string {
  // Of many clients most have nothing new; a first sync shows them all.
  const busy = adapters.filter(hasNews)
  const isShort = busy.length > 0 && busy.length < adapters.length
  const others = adapters.length - busy.length
  const rows = (isShort ? busy : adapters).map(({ adapter, sessions, messages, parts, bytes_read, ms: own }) => [
    adapter,
    countText(sessions.seen),
    countText(sessions.new),
    countText(sessions.grown + sessions.rewritten),
    countText(messages.new),
    countText(parts.new),
    bytesText(bytes_read),
    `${(own / 1000).toFixed(1)} s`,
  ])
  const titles = ["client", "sources", "new", "changed", "messages", "parts", "read", "time"]
  const shape = titles.map((title, index) => ({
    title,
    isFixed: true,
    align: index === 0 ? ("left" as const) : ("right" as const),
  }))
  const unchanged = isShort ? `${counted(others, "other client")} unchanged. ` : ""
  return `${renderTable(shape, rows, { columns, head: style.bold })}${style.dim(`${unchanged}Done in ${(ms / 1000).toFixed(1)} s.`)}\n`
}

function hasNews({ sessions, messages, parts }: Report["adapters"][number]): boolean {
  return sessions.new + sessions.grown + sessions.rewritten + messages.new + parts.new > 0 || sessions.seen === 0
}

/** Who set the client to keep so long has thought of it. */
const RETENTION_LONG_DAYS = 3_650

function unidentifiedLine(count: number): string {
  const they = count === 1 ? "it will be stored once it does" : "they will be stored once they do"
  return `${unidentifiedText(count)}: ${they}, or after a day without changes.\n`
}

function remarks(
  { adapter, path, sessions, unverified_versions, retention, issues }: Report["adapters"][number],
  style: Style,
): string[] {
  const lines: string[] = []
  // What is encrypted is named as such.
  if (sessions.seen === 0 && !issues.some(({ kind }) => kind === "encrypted_file"))
    lines.push(`${style.magenta("warning")}  ${adapter}: no sessions found in ${visibleLine(path)}.\n`)
  if (sessions.gone > 0)
    lines.push(`${adapter}: ${counted(sessions.gone, "source")} deleted from disk. Stored sessions are kept.\n`)
  if (sessions.nameless > 0) lines.push(`${adapter}: ${unidentifiedLine(sessions.nameless)}`)
  if (sessions.erased > 0)
    lines.push(
      `${adapter}: ${counted(sessions.erased, "erased session")} left out. See ${pondCommand("erase", "--list")}.\n`,
    )
  if (sessions.excluded > 0) {
    const where = pondCommand("exclude", "list")
    lines.push(`${adapter}: ${counted(sessions.excluded, "session")} of excluded projects left out. See ${where}.\n`)
  }
  if (unverified_versions.length > 0) {
    lines.push(
      `${adapter}: written by newer versions than pond was verified with (${visibleLine(unverified_versions.join(", "))}). Everything is stored.\n`,
    )
  }
  // Said once, when the client is new to pond; `pond status` says it any time.
  const isFirst = sessions.seen > 0 && sessions.new === sessions.seen
  const deletes = retention !== null && isFirst ? deletionText(retention) : undefined
  if (deletes !== undefined) lines.push(`${adapter}: it ${deletes}. Sessions stored in pond are kept.\n`)
  return lines
}

function deletionText({
  days,
  setting = "",
  file = "",
  sessions,
}: NonNullable<Report["adapters"][number]["retention"]>): string | undefined {
  if (sessions !== undefined) return `keeps the newest ${counted(sessions, "session")} and deletes the others`
  if (days === undefined || days >= RETENTION_LONG_DAYS) return undefined
  return `deletes sessions after ${ageText(days)} (${setting} in ${visibleLine(file)})`
}

const ISSUES_SHOWN = 3
/** Whole sessions that are not stored: each kind is shown, however many others there are. */
const NOT_STORED = "session_rejected"

/** A first sync may meet many kinds. All records are stored whatever they hold, so the rest is one calm line. */
function issueLines({ adapters }: Report, style: Style): string[] {
  const all = adapters.flatMap(({ adapter, issues }) => issues.map((issue) => ({ adapter, issue })))
  const [rejected, others] = [true, false].map((is) => all.filter(({ issue }) => (issue.kind === NOT_STORED) === is))
  const shown = (some: typeof all = []) => some.map(({ adapter, issue }) => issueLine(adapter, issue, style))
  if (others === undefined || others.length <= ISSUES_SHOWN) return [...shown(rejected), ...shown(others)]
  const records = others.reduce((sum, { issue }) => sum + issue.count, 0)
  const clients = [...new Set(others.map(({ adapter }) => adapter))]
  const [only] = clients
  const where = clients.length === 1 ? ` of ${only}` : ` of ${clients.length} clients`
  const next = clients.length === 1 ? pondCommand("verify", only ?? "") : "pond verify"
  const what = `${counted(records, "record")}${where} could not be fully parsed; all are stored complete. See ${next}.`
  return [...shown(rejected), `${style.dim("note")}  ${what}\n`]
}

// --- What would be done -----------------------------------------------------------------------------------------------

function outcomeOfPlan(plan: Plan): Outcome {
  const { adapters: rows } = plan
  return {
    document: { ...plan },
    render: ({ style, columns }) => {
      const cells = rows.map(({ adapter, sessions: { nameless: _, ...counts }, bytes_to_read }) => [
        adapter,
        ...Object.values(counts).map(countText),
        bytesText(bytes_to_read),
      ])
      const waiting = rows.filter(({ sessions }) => sessions.nameless > 0)
      const remarked = waiting.map(({ adapter, sessions }) => `${adapter}: ${unidentifiedLine(sessions.nameless)}`)
      const titles = ["client", "sources", "new", "grown", "rewritten", "unchanged", "gone", "to read"]
      const shape = titles.map((title, index) => ({
        title,
        isFixed: true,
        align: index === 0 ? ("left" as const) : ("right" as const),
      }))
      return `${renderTable(shape, cells, { columns, head: style.bold })}${remarked.join("")}${style.dim("Dry run: nothing was stored.")}\n`
    },
  }
}
