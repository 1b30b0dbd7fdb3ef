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
import { type CachedObjects, openCachedObjects } from "./cached-objects.ts"
import { type CommitGuards, createCommitGuards } from "./commit-guards.ts"
import { openRangeCache, type RangeCache } from "./range-cache.ts"
import { canonicalQuery } from "./sign-request.ts"
import { type AskStore, type ObjectRequest, openUpstream, passedHeaders, type UpstreamOptions } from "./upstream.ts"

/**
 * - `guarded`: reads, and commits that a guard may be about.
 * - `unguarded`: commits of maintenance, which go on beside a guarded writer of the same process.
 * - `uncached`: reads that prove what the bucket holds.
 */
export type BucketUse = (typeof USES)[number]

const USES = ["guarded", "unguarded", "uncached"] as const

export interface Gateway extends Pick<CommitGuards, "inTurn" | "guard"> {
  /** What the engine is given in place of the real ones. */
  options(use: BucketUse): Readonly<Record<string, string>>
  /** Forgets what is cached of the bucket. */
  clear(): void
  close(): void
}

export function openGateway(options: UpstreamOptions & { readonly cache: RangeCache }): Gateway {
  const ask = openUpstream(options)
  const objects = openCachedObjects(ask, options.cache)
  const proofs = openProofReads(ask, options.clock)
  const guards = createCommitGuards()
  const keyOf = () => randomBytes(20).toString("hex")
  const keys: Readonly<Record<BucketUse, string>> = { guarded: keyOf(), unguarded: keyOf(), uncached: keyOf() }

  async function answer(request: ObjectRequest, use: BucketUse): Promise<Response> {
    if (request.key === "") return request.method === "GET" ? await objects.list(request) : await ask(request)
    if (request.method === "GET") return await (use === "uncached" ? proofs.get(request) : objects.get(request))
    if (request.method === "PUT") return await objects.put(request, use === "guarded" ? guards : undefined)
    return await (request.query.includes("uploadId=") ? objects.endUpload(request) : ask(request))
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
    inTurn: guards.inTurn,
    guard: guards.guard,
    clear: objects.clear,
    close: () => void server.stop(true),
  }
}

const PROOF_BYTES = 16_000_000
const PROOF_IDLE_MS = 5_000

/**
 * Nothing that was read or written before counts, but what one proof reads in many small ranges, as the engine does, is
 * asked for in few: 2,004 requests for the parts of an import of 10,000 sessions else.
 */
function openProofReads(ask: AskStore, clock: Clock): Pick<CachedObjects, "get"> {
  const objects = openCachedObjects(ask, openRangeCache(undefined, PROOF_BYTES))
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
