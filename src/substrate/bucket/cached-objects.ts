/**
 * The objects of a bucket as the engine asks for them through the gateway: files of tables, which never change once written,
 * from the caches of this machine; everything else from the store. A manifest is known by its ETag too, as the last listing
 * gave it, because a bucket that was emptied and filled anew has others of the same names.
 */
import type { CommitGuards } from "./commit-guards.ts"
import { unescapeXml } from "./object-client.ts"
import { type Recording, SMALL_BYTES } from "./opening.ts"
import { createPartUploads } from "./part-uploads.ts"
import type { ByteRange, FetchRange, RangeCache } from "./range-cache.ts"
import type { AskStore, ObjectRequest } from "./upstream.ts"

export interface CachedObjects {
  /** `recording`: is told of every range that was asked for. */
  get(request: ObjectRequest, recording?: Recording): Promise<Response>
  put(request: ObjectRequest, guards?: CommitGuards): Promise<Response>
  list(request: ObjectRequest): Promise<Response>
  /** Finishes, or gives up, an upload in parts. */
  endUpload(request: ObjectRequest): Promise<Response>
  /** Notes the ETags of a listing. */
  noteListed(text: string): void
  /** An object that is another once it has another ETag, in one request. */
  whole(key: string, etag: string, size: number): Promise<Uint8Array | undefined>
  clear(): void
}

export interface CachedObjectsOptions {
  readonly ask: AskStore
  readonly cache: RangeCache
  /** Called before the store is asked for something that never changes; it may bring that and much else. */
  readonly beforeMiss?: (key: string) => Promise<void> | undefined
  readonly onWritten?: (key: string) => void
}

const IMMUTABLE = /\.lance\/(?:data|_indices|_deletions)\/|\/_transactions\/[^/]+\.txn$/
const MANIFEST = /\.lance\/_versions\/[^/]+\.manifest$/
const LISTED = /<Contents>.*?<Key>([^<]*)<\/Key>.*?<ETag>([^<]*)<\/ETag>.*?<\/Contents>/gs
/** Of listed manifests: more are known by the next listing. */
const ETAGS_MAX = 20_000

interface KnownNames {
  note(key: string, etag: string | null): void
  etagOf(key: string): string | undefined
  /** How the caches call an object; undefined where it may be another by now. */
  of(key: string): string | undefined
  clear(): void
}

function createNames(): KnownNames {
  const etags = new Map<string, string>()
  return {
    note: (key, etag) => {
      if (etag === null || !MANIFEST.test(key)) return
      if (etags.size > ETAGS_MAX) etags.clear()
      etags.set(key, etag)
    },
    etagOf: (key) => etags.get(key),
    of: (key) => {
      if (IMMUTABLE.test(key)) return key
      const etag = etags.get(key)
      return etag === undefined ? undefined : `${key} ${etag}`
    },
    clear: () => etags.clear(),
  }
}

export function openCachedObjects({ ask, cache, beforeMiss, onWritten }: CachedObjectsOptions): CachedObjects {
  const names = createNames()
  const uploads = createPartUploads()

  async function get(request: ObjectRequest, recording?: Recording): Promise<Response> {
    const object = names.of(request.key)
    const range = rangeOf(request.headers["range"])
    if (object === undefined || range === "other" || "if-match" in request.headers) return await ask(request)
    try {
      if (!cache.has(object, range ?? FIRST_BYTE)) await beforeMiss?.(request.key)
      return await answerCached({ cache, object, range, fetchRange: rangeFetch(ask, request), recording })
    } catch (error) {
      if (error instanceof Unread) return error.reply
      throw error
    }
  }

  /** Whether a write that was refused had happened before, and only its answer was lost. */
  async function isOwn({ key, body }: ObjectRequest): Promise<boolean> {
    const found = await ask({ method: "GET", key, query: "", headers: {}, body: new Uint8Array() })
    if (!found.ok || !Buffer.from(await found.arrayBuffer()).equals(body)) return false
    names.note(key, found.headers.get("etag"))
    return true
  }

  /** What the store holds of the body by now. */
  function noteStored({ key, query, body }: ObjectRequest): void {
    const object = names.of(key)
    if (object === undefined) return
    if (query === "") cache.keep(object, body)
    else if (query.includes("partNumber=")) uploads.notePart(query, body)
  }

  async function endUpload(request: ObjectRequest): Promise<Response> {
    const reply = await ask(request)
    const text = await reply.text()
    const content = uploads.finish(request.query)
    const object = names.of(request.key)
    // A store may say within an answer of success that it failed. Of one that was given up there is no such answer.
    const isStored = reply.ok && text.includes("CompleteMultipartUploadResult")
    if (isStored && object !== undefined && content !== undefined) cache.keep(object, content)
    return new Response(text === "" ? null : text, { status: reply.status, headers: reply.headers })
  }

  async function put(request: ObjectRequest, guards?: CommitGuards): Promise<Response> {
    const { key } = request
    const commits = MANIFEST.test(key) ? guards : undefined
    if (commits?.isOvertaken(key) === true) return refusal()
    onWritten?.(key)
    const reply = await ask(request)
    if (reply.ok) {
      names.note(key, reply.headers.get("etag"))
      noteStored(request)
      return reply
    }
    if (reply.status !== 412 && reply.status !== 409) return reply
    if (await isOwn(request)) {
      noteStored(request)
      return new Response(null, { headers: { etag: names.etagOf(key) ?? '""' } })
    }
    return commits?.noteRefused(key) === true ? refusal() : reply
  }

  async function list(request: ObjectRequest): Promise<Response> {
    const reply = await ask(request)
    if (!reply.ok) return reply
    const text = await reply.text()
    noteListed(text)
    return listingAnswer(text)
  }

  function noteListed(text: string): void {
    for (const [, key = "", etag = ""] of text.matchAll(LISTED)) names.note(key, unescapeXml(etag))
  }

  return {
    get,
    put,
    list,
    endUpload,
    noteListed,
    whole: async (key, etag, size) => {
      const request = { method: "GET", key, query: "", headers: { "if-match": etag }, body: new Uint8Array() }
      return (await cache.read(`${key} ${etag}`, { from: 0, to: size }, rangeFetch(ask, request)))?.bytes
    },
    clear: () => {
      names.clear()
      cache.clear()
    },
  }
}

interface Asked {
  readonly cache: RangeCache
  readonly object: string
  readonly range: ByteRange | undefined
  readonly fetchRange: FetchRange
  readonly recording: Recording | undefined
}

async function answerCached({ cache, object, range, fetchRange, recording }: Asked): Promise<Response> {
  const asked = range ?? (await wholeOf(cache, object, fetchRange))
  const found = asked && (await cache.read(object, asked, fetchRange))
  if (found === undefined || asked === undefined) return notFound()
  if (recording !== undefined) {
    const { size } = found
    const whole = size <= SMALL_BYTES ? await cache.read(object, { from: 0, to: size }, fetchRange) : undefined
    recording.note(object, size, whole === undefined ? asked.from : 0, (whole ?? found).bytes)
  }
  return answerOf(found.bytes, range === undefined ? undefined : { from: asked.from, size: found.size })
}

export function listingAnswer(text: string): Response {
  return new Response(text, { headers: { "content-type": "application/xml" } })
}

const FIRST_BYTE: ByteRange = { from: 0, to: 1 }

/** How long it is says its first block. */
async function wholeOf(cache: RangeCache, object: string, fetchRange: FetchRange): Promise<ByteRange | undefined> {
  const head = await cache.read(object, FIRST_BYTE, fetchRange)
  return head && { from: 0, to: head.size }
}

function rangeFetch(ask: AskStore, request: ObjectRequest): FetchRange {
  return async (from, to) => {
    const ifMatch = request.headers["if-match"]
    const headers = { range: `bytes=${from}-${to - 1}`, ...(ifMatch === undefined ? {} : { "if-match": ifMatch }) }
    const reply = await ask({ ...request, headers })
    if (reply.status === 404) return undefined
    // An empty object has no first byte.
    if (reply.status === 416) return { bytes: new Uint8Array(), size: 0 }
    if (!reply.ok) throw new Unread(reply)
    const bytes = new Uint8Array(await reply.arrayBuffer())
    const size = Number(/\/(\d+)$/.exec(reply.headers.get("content-range") ?? "")?.[1] ?? bytes.length)
    return { bytes: reply.status === 206 ? bytes : bytes.subarray(from, to), size }
  }
}

/** The store has answered with something else. */
class Unread extends Error {
  readonly reply: Response

  constructor(reply: Response) {
    super(`status ${reply.status}`)
    this.reply = reply
  }
}

/** An answer after which the engine does not try another version. */
function refusal(): Response {
  return new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 })
}

function notFound(): Response {
  return new Response("<Error><Code>NoSuchKey</Code></Error>", { status: 404 })
}

const FIXED = { etag: '"immutable"', "last-modified": "Thu, 01 Jan 1970 00:00:00 GMT" }

function answerOf(bytes: Uint8Array, part: { readonly from: number; readonly size: number } | undefined): Response {
  if (part === undefined) return new Response(bytes, { headers: FIXED })
  const place = `bytes ${part.from}-${part.from + bytes.length - 1}/${part.size}`
  return new Response(bytes, { status: 206, headers: { ...FIXED, "content-range": place } })
}

/** Undefined for all of it; a range from the end is left to the store. */
function rangeOf(header: string | undefined): ByteRange | "other" | undefined {
  if (header === undefined) return undefined
  const [, from, last] = /^bytes=(\d+)-(\d+)$/.exec(header) ?? []
  return from === undefined || last === undefined ? "other" : { from: Number(from), to: Number(last) + 1 }
}
