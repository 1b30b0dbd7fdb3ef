/**
 * What a restore would write: the files of a session, of its descendants, and of whatever it is not whole without. Decides,
 * and writes nothing. Whether it is native or foreign is decided here, by comparing origins, and never by an adapter
 * (`adapter-native-restore-lossless`).
 */
import type { Adapter, Conversation, ForeignTarget, OutputFile, ResumeCommand } from "../adapters/adapter.ts"
import { originOf } from "../adapters/registry.ts"
import { type LossKind, loss } from "../adapters/shared/losses.ts"
import { nativeRecords } from "../adapters/shared/native.ts"
import { PondError } from "../model/errors.ts"
import type { Loss } from "../model/report.ts"
import type { Entry, Part, ProviderOptions, Session, SessionLog } from "../model/session.ts"
import { withoutSuperseded } from "../model/superseded.ts"
import { between } from "../platform/memory.ts"
import { pondCommand } from "../platform/process/shell-word.ts"
import { collectLog, type StoredLog, type StoredTree } from "../sessions/read/read-sessions.ts"
import { refuseForeignOutput } from "./allowed-output.ts"
import { createOutputFiles, foreignFiles, mergeFiles, type NewLines, outputOptionsOf } from "./output-files.ts"
import { reroot } from "./reroot.ts"
import { type ShortItems, saysSomething, shortItems } from "./transcript-items.ts"
import { type WrittenLog, writeNative } from "./write-native.ts"

export interface RestoreRequest {
  readonly tree: StoredTree
  /** The sessions that the first one continues, nearest first. */
  readonly ancestors: () => Promise<readonly SessionLog[]>
  /** A session that another one needs. */
  readonly log: (sessionId: string) => Promise<StoredLog>
  readonly target: Adapter
  /** Where it will be written, if the client does not find it there without being told. */
  readonly root?: string | undefined
  /** The directory that the session goes on in. Absent: its own. */
  readonly cwd: string | undefined
  readonly reasoning: ForeignTarget["reasoning"]
  /** Written as the target writes today, though it comes from there: a separate session. */
  readonly isAnew?: boolean | undefined
  /** See `ForeignTarget`. */
  readonly model?: string | undefined
  readonly newLines?: NewLines
  /** Where what would be written to a path lies by now: see `Relocation`. */
  readonly currentPath?: ((relativePath: string) => string) | undefined
  /** How a file names others of its session where it is going to lie: see `Relocation`. */
  readonly atRoot?: ((file: OutputFile) => OutputFile) | undefined
}

export interface RestorePlan {
  readonly fidelity: "native" | "foreign"
  readonly target: Adapter
  /** It is restored as it was, and its client opens none of that form. */
  readonly isOutdated: boolean
  /** The id under which the target knows the session. */
  readonly sessionId: string
  /** Every session that is written, and the client that it came from. */
  readonly sessions: readonly { readonly id: string; readonly from: string }[]
  readonly files: readonly OutputFile[]
  readonly losses: readonly Loss[]
  /** How many strings named the old directory and name the new one now. */
  readonly rewrittenPaths: number
  readonly resume: ResumeCommand
  /** What the written files must read as: see `check.ts`. */
  readonly proof: RestoreProof
}

/** The files before they were moved to another directory, and what they are to say. */
export type RestoreProof = { readonly files: readonly OutputFile[] } & (
  | { readonly fidelity: "native"; readonly written: readonly WrittenLog[] }
  | { readonly fidelity: "foreign"; readonly told: ExpectedItems }
)

/** What a conversation told before it was written, and its agents with it. */
export interface ExpectedItems {
  readonly sessionId: string
  readonly items: ShortItems["items"]
  /** How many of them the target's serializer said that it loses. */
  readonly allowed: number
  /** How many items may be there more than were told, because the target reads one as several. */
  readonly added: number
  readonly children: readonly ExpectedItems[]
}

export async function planRestore(request: RestoreRequest): Promise<RestorePlan> {
  const { tree, target, isAnew } = request
  const isNative = originOf(tree.session.source_agent)?.id === target.id && isAnew !== true
  const plan = (isNative ? await planNative(request) : undefined) ?? (await planForeign(request))
  refuseForeignOutput(plan)
  return plan
}

/** What no client wrote, as it came over the wire, has no records that a client's adapter could go by: only its messages. */
function isRecorded(log: SessionLog): boolean {
  return nativeRecords(log).next().done !== true
}

/** Nothing where no client wrote it. */
async function planNative(request: RestoreRequest): Promise<RestorePlan | undefined> {
  const { tree, target, newLines } = request
  const written = await writeWithNeeded(request)
  const own = written[0]
  if (own === undefined || own.files.length === 0) return undefined
  const files = mergeFiles(written.flatMap((each) => each.files))
  const home = tree.session.project
  const cwd = request.cwd ?? home
  const move = { from: home, to: cwd, relativePath: target.relocation?.relativePath }
  const moved = cwd === home ? { files, rewrittenPaths: 0 } : reroot(files, move, newLines)
  const repointed = moved.rewrittenPaths === 0 ? moved.files : repoint(target, moved.files, newLines)
  const placed = whereTheyLie(repointed, request)
  return {
    fidelity: "native",
    target,
    isOutdated: own.isOutdated,
    sessionId: own.sessionId,
    sessions: written.map(({ session }) => ({ id: session.id, from: session.source_agent })),
    files: placed,
    // A native restore gives every record back.
    losses: [],
    rewrittenPaths: moved.rewrittenPaths,
    resume: target.serialize.resume(own.sessionId, cwd, {
      ...{ relativePath: placed[0]?.relativePath, root: request.root, knownAs: own.knownAs },
    }),
    proof: { fidelity: "native", written, files },
  }
}

/** Files whose lines changed no longer lie where others say that they lie. */
function repoint(target: Adapter, files: readonly OutputFile[], newLines: NewLines): readonly OutputFile[] {
  if (target.relocation?.repoint === undefined) return files
  const output = createOutputFiles({ ...outputOptionsOf(target), newLines })
  target.relocation.repoint(files, output)
  return output.files()
}

/** What its client has put elsewhere is there, and gets no second copy where it was. */
function whereTheyLie(files: readonly OutputFile[], { currentPath, atRoot }: RestoreRequest): readonly OutputFile[] {
  const named = atRoot === undefined ? files : files.map(atRoot)
  return currentPath === undefined
    ? named
    : named.map((file) => ({ ...file, relativePath: currentPath(file.relativePath) }))
}

async function planForeign(request: RestoreRequest): Promise<RestorePlan> {
  const { tree, target, reasoning, model, newLines } = request
  const { session } = tree
  const cwd = request.cwd ?? session.project
  const { conversation, missing } = await conversationOf(request)
  between("passes")
  const { items } = shortItems(conversation, target.vocabulary, reasoning)
  if (!saysSomething(items)) throw nothingToTell(session.id, target)
  between("passes")
  const written = foreignFiles(target, conversation, { cwd, reasoning, model }, newLines)
  const { sessionId } = written
  if (written.files.length === 0) {
    throw new PondError(
      "validation_failed",
      `${target.title} cannot open sessions that pond writes. Choose another client with --to.`,
      { details: { adapter: target.id } },
    )
  }
  const losses = [...missing, ...written.losses]
  between("passes")
  const files = mergeFiles(written.files)
  const placed = whereTheyLie(files, request)
  return {
    fidelity: "foreign",
    target,
    isOutdated: false,
    sessionId,
    sessions: conversations(conversation).map((each) => ({ id: each.session.id, from: each.session.source_agent })),
    files: placed,
    losses,
    rewrittenPaths: 0,
    resume: target.serialize.resume(sessionId, cwd, { relativePath: placed[0]?.relativePath, root: request.root }),
    proof: { fidelity: "foreign", told: toldOf(conversation, { target, reasoning, losses }), files },
  }
}

/** A client that lists what its user said lists no such session, so that a restore of it would be lost at once. */
function nothingToTell(id: string, target: Adapter): PondError {
  return new PondError(
    "validation_failed",
    `Session ${id} has no messages, so ${target.title} has nothing to resume. \`${pondCommand("get", id, { mode: "verbatim" })}\` shows what it contains.`,
    { details: { session_id: id } },
  )
}

interface Retelling {
  readonly conversation: Conversation
  readonly missing: readonly Loss[]
}

/** Held whole: which of its messages are alive is known when all of them were read. */
async function conversationOf({ tree, ancestors }: RestoreRequest): Promise<Retelling> {
  const own = await collectLog(tree)
  between("passes")
  const origin = isRecorded(own) ? adapterOf(tree.session) : undefined
  const before = await ancestors()
  return {
    conversation: await liveConversation(tree, own, { origin, ancestors: before }),
    missing: missingHistory(own, before, origin),
  }
}

interface Lineage {
  readonly origin: Adapter | undefined
  readonly ancestors: readonly SessionLog[]
}

/** Forks are separate conversations: only what an agent's agents did belongs to this one. */
async function liveConversation(
  tree: StoredTree,
  log: SessionLog,
  { origin, ancestors }: Lineage,
): Promise<Conversation> {
  const children: Conversation[] = []
  for (const child of tree.children) {
    const { source_agent: agent } = child.session
    if (!agent.includes("/") || originOf(agent) !== originOf(tree.session.source_agent)) continue
    const lineage = { origin, ancestors: [log, ...ancestors] }
    children.push(await liveConversation(child, await collectLog(child), lineage))
  }
  const current = withoutSuperseded(log)
  const entries =
    origin?.context(current, ancestors.map(withoutSuperseded)) ??
    current.entries.filter(({ parts }) => parts.length > 0)
  const speaker = originOf(tree.session.source_agent)
  return { session: log.session, entries: entries.map(withoutRecord), children, origin: speaker }
}

/** What its own client wrote of it is no other client's concern, and more than what was said. */
export function withoutRecord({ message, parts }: Entry): Entry {
  return {
    message: { ...message, options: ownFacts(message.options) },
    parts: (parts as readonly Part[]).map((part) => ({ ...part, options: ownFacts(part.options) })),
  } as Entry
}

function ownFacts({ pond }: ProviderOptions): ProviderOptions {
  return pond === undefined ? NOTHING : { pond }
}

const NOTHING: ProviderOptions = Object.freeze({})

function conversations(conversation: Conversation): Conversation[] {
  return [conversation, ...conversation.children.flatMap(conversations)]
}

/** Losses that take away nothing that was said or done. */
const ITEMLESS: ReadonlySet<string> = new Set<LossKind>(["missing_history", "failure_mark", "model_settings"])

interface Way {
  readonly target: Adapter
  readonly reasoning: ForeignTarget["reasoning"]
  readonly losses: readonly Loss[]
}

/** What the turns leave out already is missing on both sides. */
function toldOf(conversation: Conversation, way: Way): ExpectedItems {
  const { items, lost } = shortItems(conversation, way.target.vocabulary, way.reasoning)
  const own = new Set(conversation.entries.map(({ message }) => message.id))
  const said = way.losses.filter(({ kind, messageId }) => !ITEMLESS.has(kind) && own.has(messageId ?? "")).length
  return {
    sessionId: conversation.session.id,
    items,
    allowed: said - lost,
    added: way.losses.filter(({ kind, messageId }) => kind === "cut_text" && own.has(messageId ?? "")).length,
    children: conversation.children.map((child) => toldOf(child, way)),
  }
}

function adapterOf(session: Session): Adapter {
  const adapter = originOf(session.source_agent)
  if (adapter !== undefined) return adapter
  throw new PondError(
    "validation_failed",
    `Session ${session.id} came from "${session.source_agent}", which this pond does not support. Update pond, or export the session.`,
    { details: { session_id: session.id, source_agent: session.source_agent } },
  )
}

function flatten(tree: StoredTree): StoredLog[] {
  return [tree, ...tree.children.flatMap(flatten)]
}

/** What one session needs may need another: until nothing new is named. */
async function writeWithNeeded({ tree, target, log, newLines }: RestoreRequest): Promise<WrittenLog[]> {
  const all = new Map(flatten(tree).map((each) => [each.session.id, each]))
  const written: WrittenLog[] = []
  for (const each of all.values()) {
    const one = await writeNative(each, target, newLines)
    written.push(one)
    for (const id of one.needs) if (!all.has(id)) all.set(id, await neededLog(id, each.session.id, log))
  }
  return written
}

async function neededLog(id: string, by: string, log: RestoreRequest["log"]): Promise<StoredLog> {
  try {
    return await log(id)
  } catch (cause) {
    if (!(cause instanceof PondError) || cause.code !== "not_found") throw cause
    const found = `Session ${by} continues ${id}, which is not in this store: its own client could not open it.`
    throw new PondError(
      "not_found",
      `${found} Sync the machine that has it, or restore into another client with --to.`,
      {
        details: { session_id: by, needs: id },
        cause,
      },
    )
  }
}

/** A loss for each ancestor that is not stored: the foreign client gets only the part of the conversation that exists. */
function missingHistory(log: SessionLog, ancestors: readonly SessionLog[], origin: Adapter | undefined): Loss[] {
  const stored = new Set(ancestors.map(({ session }) => session.id))
  const lineage = origin?.lineage?.open(log.session)
  lineage?.push(log.entries)
  const missing = (lineage?.needs() ?? []).filter((id) => !stored.has(id))
  const first = log.entries[0]?.message.id ?? log.session.id
  return missing.map((id) => loss("missing_history", first, `what ${id} said before, which is not stored`))
}
