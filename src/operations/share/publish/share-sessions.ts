/**
 * Shares sessions, redacted, as a page in storage that the user owns; lists what was shared, and takes it back. Everything is
 * written into a separate directory first, so that what cannot be written whole is not shared, and the question before it
 * can say what is in it.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PondError } from "../../../model/errors.ts"
import { visibleLine } from "../../../model/visible.ts"
import { writeNewFile } from "../../../platform/files/new-file.ts"
import type { RunContext } from "../../operation.ts"
import type { Pond } from "../../pond.ts"
import type { Replaced } from "../redact.ts"
import { type Share, shareSession } from "../share.ts"
import { chosenSessions, pageNames, shareSite } from "../site.ts"
import { addShare, readShares, removeShare } from "./share-list.ts"
import type { Shared, ShareHooks, ShareInput, ShareOutput, UnshareInput, UnshareOutput } from "./share-shapes.ts"
import { openTarget, type ShareTarget, takeBackShare } from "./share-target.ts"

const WEEK_SECONDS = 7 * 86_400

export async function shareSessions(context: RunContext & ShareHooks, input: ShareInput): Promise<ShareOutput> {
  const { pond, signal } = context
  const nothing = { session_ids: [], messages: 0, bytes: 0, replaced: [] }
  if (input.list === true) return { action: "list", shares: [...readShares(pond.host)], ...nothing }
  const sessionIds = await askedSessions(context, input)
  const id = crypto.randomUUID()
  const { expires_seconds: expiresSeconds, public: isPublic = false } = input
  if (isPublic && expiresSeconds !== undefined)
    throw new PondError("validation_failed", "A public link does not expire: remove --expires or --public.")
  const target = openTarget(pond.host, { to: input.to ?? "", id, expiresSeconds, isPublic })
  const folder = mkdtempSync(join(tmpdir(), "pond-share-"))
  try {
    const drafted = await draft(pond, { sessionIds, isWhole: input.conversation_only !== true, target, folder }, signal)
    const { messages, bytes, replaced, title } = drafted
    const plan = { session_ids: [...sessionIds], messages, bytes, replaced: [...replaced] }
    const isAgreed = input.yes === true || target.kind === "directory"
    if (!isAgreed && (await context.confirm?.({ ...plan, to: target.shown })) !== true)
      return { action: "plan", shares: [], ...plan }
    const { files, link } = await target.publish(drafted.paths, title)
    const nowMs = pond.host.clock.nowMs()
    const isSigned = target.kind === "bucket" && !isPublic
    const expiresMs = nowMs + (expiresSeconds ?? WEEK_SECONDS) * 1000
    const share: Shared = {
      ...{ id: id.slice(0, 8), kind: target.kind, to: target.shown, link: unsigned(link), files: [...files] },
      ...{ session_ids: [...sessionIds], title, created_at: new Date(nowMs).toISOString() },
      expires_at: isSigned ? new Date(expiresMs).toISOString() : null,
    }
    addShare(pond.host, share)
    return { action: "share", shares: [{ ...share, link }], ...plan }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function askedSessions({ pond, signal }: RunContext, { session = [], filters, to }: ShareInput) {
  const isFiltered = filters !== undefined && Object.keys(filters).length > 0
  if (session.length === 0 && !isFiltered)
    throw new PondError(
      "validation_failed",
      "Name what to share: the ids of sessions, or filters such as --project. `pond list` shows sessions.",
    )
  if (to === undefined)
    throw new PondError(
      "validation_failed",
      "Choose where to share it: --to s3://bucket/folder, --to DIR or --to gist.",
      {
        details: { flag: "--to" },
      },
    )
  const found = await chosenSessions(pond, { ids: session, filters }, signal)
  if (found.length === 0) throw new PondError("not_found", "Nothing matches. `pond list` shows what is stored.")
  return found
}

interface Drafting {
  readonly sessionIds: readonly string[]
  readonly isWhole: boolean
  readonly target: ShareTarget
  readonly folder: string
}

interface Drafted {
  /** The last one is what the link leads to. */
  readonly paths: readonly string[]
  readonly title: string
  readonly messages: number
  readonly bytes: number
  readonly replaced: readonly Replaced[]
}

async function draft(
  pond: Pond,
  { sessionIds, isWhole, target, folder }: Drafting,
  signal: AbortSignal,
): Promise<Drafted> {
  const paths: string[] = []
  let bytes = 0
  const write = async (name: string, chunks: AsyncIterable<string>) => {
    const path = join(folder, name)
    bytes += await writeNewFile(path, chunks, { isForced: false })
    paths.push(path)
  }
  if (target.format === "html" && sessionIds.length > 1) {
    const { files, messages, replaced } = shareSite(
      pond,
      { sessionIds, isWhole, isRedacted: true, hrefOf: target.hrefOf },
      signal,
    )
    for await (const { name, chunks } of files()) await write(name, chunks)
    return { paths, bytes, title: `${sessionIds.length} sessions`, messages: messages(), replaced: replaced() ?? [] }
  }
  const names = pageNames(sessionIds)
  const counts = new Map<string, number>()
  let messages = 0
  let title = ""
  for (const sessionId of sessionIds) {
    const options = { sessionId, isWhole, isRedacted: true, withSubagents: true, format: target.format }
    const share: Share = shareSession(pond, options, signal)
    await write((names.get(sessionId) ?? "").replace(/html$/, target.format), share.chunks)
    messages += share.messages()
    title ||= share.summary()?.name ?? ""
    for (const { kind, count } of share.replaced() ?? []) counts.set(kind, (counts.get(kind) ?? 0) + count)
  }
  const replaced = [...counts].map(([kind, count]) => ({ kind, count }))
  return { paths, bytes, title: visibleLine(title) || "A session", messages, replaced }
}

/** A signature is a credential: who reads the list of shares must not be able to open them. */
function unsigned(link: string): string {
  return link.replace(/\?.*$/s, "")
}

// --- Taking back -----------------------------------------------------------------------------------------------------------

export async function unshareSessions({ pond }: RunContext, input: UnshareInput): Promise<UnshareOutput> {
  const { share: asked = [], expired: isExpired = false } = input
  if (asked.length === 0 && !isExpired)
    throw new PondError(
      "validation_failed",
      "Name what to unshare: a share, a session or a link. `pond share --list` lists them.",
    )
  const shares = readShares(pond.host)
  const nowMs = pond.host.clock.nowMs()
  const chosen = new Set(isExpired ? shares.filter(({ expires_at: at }) => at !== null && Date.parse(at) <= nowMs) : [])
  for (const word of asked) {
    const found = shares.filter((each) => isMeant(each, word))
    if (found.length === 0)
      throw new PondError(
        "not_found",
        `Nothing was shared from this machine as ${visibleLine(word)}. \`pond share --list\` lists it.`,
        {
          details: { share: word },
        },
      )
    for (const each of found) chosen.add(each)
  }
  for (const share of chosen) {
    await takeBackShare(pond.host, share)
    removeShare(pond.host, share.id)
  }
  return { removed: [...chosen] }
}

const PREFIX_MIN = 4

function isMeant({ id, link, session_ids: sessions }: Shared, word: string): boolean {
  if (id === word || link === unsigned(word)) return true
  return word.length >= PREFIX_MIN && sessions.some((session) => session.startsWith(word))
}
