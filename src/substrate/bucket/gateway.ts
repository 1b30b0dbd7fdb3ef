/**
 * The way of the engine to a bucket: a server on the loopback interface that speaks S3 to the engine and passes on to the
 * real store what it must. The engine offers no place to step in, and three things need one:
 * - Files of a table never change once written, so what was read or written here is not read from the bucket again.
 * - A commit of appended rows counts only if nobody has committed since its keys were looked up. The engine repeats an
 *   append on top of whatever was committed meanwhile, which would store rows twice; here its manifest is refused.
 * - A write whose answer was lost is found out by comparing, where the engine takes its own manifest for another's.
 * The engine knows a key that is made up for this process, so that nobody else on the machine can ask here.
 */
import { randomBytes } from "node:crypto"
import type { Clock } from "../../platform/host/clock.ts"
import { OWN_FOLDER } from "../local/local-table.ts"
import { type CachedObjects, listingAnswer, openCachedObjects } from "./cached-objects.ts"
import { type CommitGuards, createCommitGuards } from "./commit-guards.ts"
import { createRecording, type Recording } from "./opening.ts"
import { createOpenings, type Openings } from "./openings.ts"
import { openRangeCache, type RangeCache } from "./range-cache.ts"
import { canonicalQuery } from "./sign-request.ts"
import { createStoreListing, namesBelow, type StoreListing } from "./store-listing.ts"
import { type AskStore, type ObjectRequest, openUpstream, passedHeaders, type UpstreamOptions } from "./upstream.ts"

/**
 * - `guarded`: reads, and commits that a guard may be about.
 * - `unguarded`: commits of maintenance, which go on beside a guarded writer of the same process.
 * - `uncached`: reads that prove what the bucket holds.
 * - `recorded`: reads that are noted, for an opening.
 */
export type BucketUse = (typeof USES)[number]

const USES = ["guarded", "unguarded", "uncached", "recorded"] as const

export interface Gateway extends Pick<CommitGuards, "inTurn" | "guard"> {
  /** What the engine is given in place of the real ones. */
  options(use: BucketUse): Readonly<Record<string, string>>
  /** The names of the notes of a store, by its first listing; nothing where they are to be asked for in another way. */
  notes(root: string): Promise<readonly string[] | undefined>
  readonly openings: Pick<Openings, "isDue" | "write">
  /** Notes what `recorded` reads ask for from now on. */
  record(): Recording
  /** What was listed may be another by now. */
  forgetListing(): void
  /** Forgets what is cached of the bucket. */
  clear(): void
  close(): void
}

export interface GatewayOptions extends UpstreamOptions {
  readonly cache: RangeCache
  /** Nothing was kept of the bucket as yet. */
  readonly isCold: boolean
}

export function openGateway(options: GatewayOptions): Gateway {
  const { cache } = options
  const ask = openUpstream(options)
  const openings = createOpenings({ ask, cache, objects: () => objects })
  const listing = createStoreListing(options.clock)
  const objects = openCachedObjects({
    ask,
    cache,
    beforeMiss: openings.bring,
    onWritten: (key) => {
      listing.wrote(key)
      openings.noteWritten(key)
    },
  })
  const proofs = openProofReads(ask, options.clock)
  const guards = createCommitGuards()
  const keyOf = () => randomBytes(20).toString("hex")
  const keys = Object.fromEntries(USES.map((use) => [use, keyOf()])) as Readonly<Record<BucketUse, string>>
  let recording: Recording | undefined

  async function list(request: ObjectRequest, use: BucketUse): Promise<Response> {
    const known = use === "guarded" ? await listing.take(request.query) : undefined
    return known === undefined ? await objects.list(request) : listingAnswer(known)
  }

  async function answer(request: ObjectRequest, use: BucketUse): Promise<Response> {
    if (request.method === "GET") return await (request.key === "" ? list(request, use) : read(request, use))
    if (request.key === "") return await ask(request)
    if (request.method === "PUT") return await objects.put(request, use === "guarded" ? guards : undefined)
    return await (request.query.includes("uploadId=") ? objects.endUpload(request) : ask(request))
  }

  async function read(request: ObjectRequest, use: BucketUse): Promise<Response> {
    if (use === "uncached") return await proofs.get(request)
    return await objects.get(request, use === "recorded" ? recording : undefined)
  }

  async function serve(incoming: Request): Promise<Response> {
    const authorization = incoming.headers.get("authorization") ?? ""
    const use = USES.find((each) => authorization.includes(`Credential=${keys[each]}/`))
    if (use === undefined) return new Response(null, { status: 403 })
    try {
      return await answer(await readRequest(incoming), use)
    } catch {
      // As a store that cannot be reached now: the engine asks again, a few times.
      return new Response("<Error><Code>ServiceUnavailable</Code></Error>", { status: 503 })
    }
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: serve,
    idleTimeout: 0,
    maxRequestBodySize: 2 ** 31,
  })
  server.unref()
  return {
    options: (use) => ({
      aws_endpoint: `http://127.0.0.1:${server.port}`,
      aws_access_key_id: keys[use],
      aws_secret_access_key: "unused",
      aws_region: options.credentials.region,
      aws_virtual_hosted_style_request: "false",
      aws_unsigned_payload: "true",
      allow_http: "true",
    }),
    notes: (root) => listNotes(root, { ask, listing, objects, openings, isCold: options.isCold }),
    openings,
    record: () => {
      recording = createRecording()
      return recording
    },
    forgetListing: listing.forget,
    inTurn: guards.inTurn,
    guard: guards.guard,
    clear: () => {
      listing.forget()
      openings.forget()
      objects.clear()
    },
    close: () => void server.stop(true),
  }
}

interface Listed {
  readonly ask: AskStore
  readonly listing: StoreListing
  readonly objects: Pick<CachedObjects, "noteListed">
  readonly openings: Pick<Openings, "noteListed">
  readonly isCold: boolean
}

/** Of a machine that knows nothing of the bucket as yet all names are listed: it is about to ask for every table. */
async function listNotes(
  root: string,
  { ask, listing, objects, openings, isCold }: Listed,
): Promise<readonly string[] | undefined> {
  const own = `${root}/${OWN_FOLDER}/`
  const prefix = isCold ? `${root}/` : own
  const query = canonicalQuery(new URLSearchParams({ "list-type": "2", prefix }))
  const text = await listing.begin(prefix, async () => {
    const reply = await ask({ method: "GET", key: "", query, headers: {}, body: new Uint8Array() })
    return reply.ok ? await reply.text() : undefined
  })
  if (text === undefined) return undefined
  objects.noteListed(text)
  openings.noteListed(root, text)
  return namesBelow(text, own)
}

const PROOF_BYTES = 16_000_000
const PROOF_IDLE_MS = 5_000

/**
 * Nothing that was read or written before counts, but what one proof reads in many small ranges, as the engine does, is
 * asked for in few: 2,004 requests for the parts of an import of 10,000 sessions else.
 */
function openProofReads(ask: AskStore, clock: Clock): Pick<CachedObjects, "get"> {
  const objects = openCachedObjects({ ask, cache: openRangeCache(undefined, PROOF_BYTES) })
  let askedMs = Number.NEGATIVE_INFINITY
  return {
    get: async (request) => {
      const nowMs = clock.monotonicMs()
      if (nowMs - askedMs > PROOF_IDLE_MS) objects.clear()
      askedMs = nowMs
      return await objects.get(request)
    },
  }
}

/** Path style, as the engine was told. */
async function readRequest(incoming: Request): Promise<ObjectRequest> {
  const url = new URL(incoming.url)
  const [, , ...path] = decodeURIComponent(url.pathname).split("/")
  return {
    method: incoming.method,
    key: path.join("/"),
    query: canonicalQuery(url.searchParams),
    headers: passedHeaders(incoming.headers),
    body: new Uint8Array(await incoming.arrayBuffer()),
  }
}
