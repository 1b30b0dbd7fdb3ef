/**
 * What Amazon S3 and Google Cloud Storage say over HTTP, as far as they say the same: the XML interface, path style.
 * They differ in how a write names the version it replaces (`If-Match` by ETag, `x-goog-if-generation-match` by
 * number) and in the names of headers; this server understands both at once. A signature is not verified, but a
 * request without the right key is refused. Pure but for the space it is given: one request in, one answer out.
 */
import type { Listing, ObjectSpace, Precondition, StoredObject, UploadPart } from "./object-space.ts"
import { escapeXml, textsOf, unescapeXml, xmlDocument } from "./object-xml.ts"

export interface ObjectRequest {
  readonly method: string
  /** As it came over the wire, percent-encoded. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type RequestKind =
  | "head_bucket"
  | "list"
  | "batch_delete"
  | "get"
  | "head"
  | "put"
  | "copy"
  | "delete"
  | "begin_upload"
  | "put_part"
  | "complete_upload"
  | "abort_upload"
  | "unknown"

export interface Addressed {
  readonly kind: RequestKind
  readonly bucket: string
  readonly key: string
  readonly parameters: URLSearchParams
  readonly isGoogle: boolean
  readonly isConditionalWrite: boolean
}

interface Context extends Addressed {
  readonly space: ObjectSpace
  readonly request: ObjectRequest
  readonly pageLimit: number
}

export interface ProtocolOptions {
  /** The one access key that is let in. Without it everyone is. */
  readonly accessKeyId?: string
  /** No page of a listing is longer, whatever the client asks for. */
  readonly pageLimit: number
}

const WRITES: ReadonlySet<RequestKind> = new Set(["put", "copy", "complete_upload"])

/** Before the bucket of every request of a Google client, since one without OAuth bears no other mark. */
export const GOOGLE_ROOT = "/google"

const BUCKET_KINDS: Readonly<Record<string, RequestKind>> = { GET: "list", HEAD: "head_bucket" }
const OBJECT_KINDS: Readonly<Record<string, RequestKind>> = { GET: "get", HEAD: "head", DELETE: "delete" }
const UPLOAD_KINDS: Readonly<Record<string, RequestKind>> = {
  PUT: "put_part",
  POST: "complete_upload",
  DELETE: "abort_upload",
}

export function addressOf(request: ObjectRequest): Addressed {
  const url = new URL(request.target, "http://objects.test")
  const isGoogle = url.pathname.startsWith(`${GOOGLE_ROOT}/`)
  const path = isGoogle ? url.pathname.slice(GOOGLE_ROOT.length) : url.pathname
  const [bucket = "", ...rest] = decodeURIComponent(path).slice(1).split("/")
  const key = rest.join("/")
  const kind = kindOf(request, url.searchParams, key)
  const isConditionalWrite = WRITES.has(kind) && Object.keys(preconditionOf(request.headers)).length > 0
  return { kind, bucket, key, parameters: url.searchParams, isGoogle, isConditionalWrite }
}

function kindOf({ method, headers }: ObjectRequest, parameters: URLSearchParams, key: string): RequestKind {
  if (key === "") {
    if (method === "POST" && parameters.has("delete")) return "batch_delete"
    return BUCKET_KINDS[method] ?? "unknown"
  }
  if (parameters.has("uploadId")) return UPLOAD_KINDS[method] ?? "unknown"
  if (method === "POST") return parameters.has("uploads") ? "begin_upload" : "unknown"
  if (method === "PUT") return copySourceOf(headers) === undefined ? "put" : "copy"
  return OBJECT_KINDS[method] ?? "unknown"
}

const ACTIONS: Readonly<Record<RequestKind, (context: Context) => Answer>> = {
  head_bucket: () => empty(200),
  list: listObjects,
  batch_delete: deleteMany,
  get: getObject,
  head: (context) => ({ ...getObject(context), body: new Uint8Array() }),
  put: putObject,
  copy: copyObject,
  delete: ({ space, bucket, key }) => {
    space.remove(bucket, key)
    return empty(204)
  },
  begin_upload: beginUpload,
  put_part: putPart,
  complete_upload: completeUpload,
  abort_upload: ({ space, parameters }) =>
    space.abortUpload(parameters.get("uploadId") ?? "") ? empty(204) : failure(404, "NoSuchUpload"),
  unknown: () => failure(405, "MethodNotAllowed"),
}

export function answer(
  space: ObjectSpace,
  request: ObjectRequest,
  address: Addressed,
  options: ProtocolOptions,
): Answer {
  if (options.accessKeyId !== undefined && !isSignedBy(request, address, options.accessKeyId)) {
    return failure(403, "AccessDenied")
  }
  if (!space.has(address.bucket)) return failure(404, "NoSuchBucket")
  const body = bodyOf(request)
  if (body === undefined) return failure(400, "XAmzContentSHA256Mismatch")
  return ACTIONS[address.kind]({ ...address, space, request: { ...request, body }, pageLimit: options.pageLimit })
}

export function failure(status: number, code: string): Answer {
  return xml(`<Error><Code>${code}</Code><Message>${code}, says the test server.</Message></Error>`, status)
}

/** Amazon's clients sign, in a header or in the query. Google's send a token, and none where OAuth is switched off. */
function isSignedBy({ headers }: ObjectRequest, { parameters, isGoogle }: Addressed, accessKeyId: string): boolean {
  if (isGoogle) return true
  const authorization = headers["authorization"] ?? ""
  const credential = parameters.get("X-Amz-Credential") ?? /Credential=([^,]+)/.exec(authorization)?.[1] ?? ""
  return credential.split("/")[0] === accessKeyId
}

// --- Bodies: plain, checked against the digest that was signed, or in signed chunks -------------------------------

function bodyOf({ headers, body }: ObjectRequest): Uint8Array | undefined {
  const digest = headers["x-amz-content-sha256"] ?? "UNSIGNED-PAYLOAD"
  if (digest.startsWith("STREAMING-")) return joinChunks(body)
  if (digest === "UNSIGNED-PAYLOAD") return body
  return new Bun.CryptoHasher("sha256").update(body).digest("hex") === digest ? body : undefined
}

/** `<size in hex>;chunk-signature=…\r\n<bytes>\r\n`, until a chunk of size 0; trailers after it are not read. */
function joinChunks(body: Uint8Array): Uint8Array {
  const source = Buffer.from(body)
  const chunks: Buffer[] = []
  let at = 0
  while (at < source.length) {
    const end = source.indexOf("\r\n", at)
    const size = Number.parseInt(source.toString("latin1", at, end), 16)
    if (end < 0 || Number.isNaN(size) || size === 0) break
    chunks.push(source.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
  return new Uint8Array(Buffer.concat(chunks))
}

// --- Objects ------------------------------------------------------------------------------------------------------

function preconditionOf(headers: Readonly<Record<string, string>>): Precondition {
  const etag = headers["if-match"]
  const generation = headers["x-goog-if-generation-match"]
  return {
    ...(headers["if-none-match"] === "*" ? { isAbsent: true } : {}),
    ...(etag === undefined ? {} : { etag }),
    ...(generation === undefined ? {} : { generation: Number(generation) }),
  }
}

function versionHeaders({ etag, generation, modified }: StoredObject): Record<string, string> {
  return { etag, "x-goog-generation": `${generation}`, "last-modified": modified.toUTCString() }
}

function putObject({ space, bucket, key, request }: Context): Answer {
  const written = space.putIf(bucket, key, request.body, preconditionOf(request.headers))
  return written === undefined ? failure(412, "PreconditionFailed") : empty(200, versionHeaders(written))
}

function getObject({ space, bucket, key, request }: Context): Answer {
  const found = space.get(bucket, key)
  if (found === undefined) return failure(404, "NoSuchKey")
  const { "if-match": wanted, "if-none-match": known, range } = request.headers
  if (wanted !== undefined && wanted !== "*" && wanted !== found.etag) return failure(412, "PreconditionFailed")
  if (known === found.etag || known === "*") return empty(304, versionHeaders(found))
  const headers = {
    ...versionHeaders(found),
    "accept-ranges": "bytes",
    "content-type": "application/octet-stream",
    "content-length": `${found.bytes.length}`,
  }
  const cut = range === undefined ? undefined : rangeOf(range, found.bytes.length)
  if (cut === undefined) return { status: 200, headers, body: found.bytes }
  if (cut === "unsatisfiable") return failure(416, "InvalidRange")
  const body = found.bytes.subarray(cut.from, cut.to + 1)
  const place = { "content-range": `bytes ${cut.from}-${cut.to}/${found.bytes.length}` }
  return { status: 206, headers: { ...headers, ...place, "content-length": `${body.length}` }, body }
}

/** One range; of several, or of what is no range, the whole object is the right answer. */
function rangeOf(header: string, size: number): { from: number; to: number } | "unsatisfiable" | undefined {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? []
  if (first === "" && last === "") return undefined
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1)
  return from >= size || to < from ? "unsatisfiable" : { from, to }
}

function copySourceOf(headers: Readonly<Record<string, string>>): string | undefined {
  return headers["x-amz-copy-source"] ?? headers["x-goog-copy-source"]
}

function copyObject({ space, bucket, key, request }: Context): Answer {
  const [sourceBucket = "", ...rest] = decodeURIComponent(copySourceOf(request.headers) ?? "")
    .replace(/^\//, "")
    .split("/")
  const source = space.has(sourceBucket) ? space.get(sourceBucket, rest.join("/")) : undefined
  if (source === undefined) return failure(404, "NoSuchKey")
  const written = space.putIf(bucket, key, source.bytes, preconditionOf(request.headers))
  if (written === undefined) return failure(412, "PreconditionFailed")
  const times = `<LastModified>${written.modified.toISOString()}</LastModified>`
  return xml(`<CopyObjectResult>${times}<ETag>${escapeXml(written.etag)}</ETag></CopyObjectResult>`)
}

function deleteMany({ space, bucket, request }: Context): Answer {
  const keys = textsOf(new TextDecoder().decode(request.body), "Key")
  if (keys.length > 1000) return failure(400, "MalformedXML")
  for (const key of keys) space.remove(bucket, key)
  const deleted = keys.map((key) => `<Deleted><Key>${escapeXml(key)}</Key></Deleted>`)
  return xml(`<DeleteResult>${deleted.join("")}</DeleteResult>`)
}

function listObjects({ space, bucket, parameters, pageLimit }: Context): Answer {
  const prefix = parameters.get("prefix") ?? ""
  const after = parameters.get("continuation-token") ?? parameters.get("start-after") ?? ""
  const limit = Math.min(Number(parameters.get("max-keys") ?? 1000), pageLimit)
  const page = space.list(bucket, { prefix, delimiter: parameters.get("delimiter") ?? "", after, limit })
  return xml(listingXml(bucket, prefix, page, parameters.get("encoding-type") === "url"))
}

function listingXml(bucket: string, prefix: string, page: Listing, isEncoded: boolean): string {
  const name = (key: string) => escapeXml(isEncoded ? encodeURIComponent(key) : key)
  const contents = page.objects.map(
    ([key, { bytes, etag, modified }]) =>
      `<Contents><Key>${name(key)}</Key><LastModified>${modified.toISOString()}</LastModified>` +
      `<ETag>${escapeXml(etag)}</ETag><Size>${bytes.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
  )
  const prefixes = page.prefixes.map((found) => `<CommonPrefixes><Prefix>${name(found)}</Prefix></CommonPrefixes>`)
  const next = page.next === undefined ? "" : `<NextContinuationToken>${escapeXml(page.next)}</NextContinuationToken>`
  const head =
    `<Name>${escapeXml(bucket)}</Name><Prefix>${name(prefix)}</Prefix><IsTruncated>${next !== ""}</IsTruncated>` +
    `<KeyCount>${contents.length + prefixes.length}</KeyCount>${next}`
  return `<ListBucketResult>${head}${contents.join("")}${prefixes.join("")}</ListBucketResult>`
}

// --- Uploads in parts ---------------------------------------------------------------------------------------------

function beginUpload({ space, bucket, key }: Context): Answer {
  const names = `<Bucket>${escapeXml(bucket)}</Bucket><Key>${escapeXml(key)}</Key>`
  const id = `<UploadId>${space.beginUpload(bucket, key)}</UploadId>`
  return xml(`<InitiateMultipartUploadResult>${names}${id}</InitiateMultipartUploadResult>`)
}

function putPart({ space, parameters, request }: Context): Answer {
  const number = Number(parameters.get("partNumber"))
  if (!Number.isInteger(number) || number < 1 || number > 10_000) return failure(400, "InvalidArgument")
  const etag = space.putPart(parameters.get("uploadId") ?? "", number, request.body)
  return etag === undefined ? failure(404, "NoSuchUpload") : empty(200, { etag })
}

function completeUpload({ space, bucket, key, parameters, request }: Context): Answer {
  const parts = partsOf(new TextDecoder().decode(request.body))
  const condition = preconditionOf(request.headers)
  const written = space.completeUpload(bucket, key, parameters.get("uploadId") ?? "", parts, condition)
  if (written === "no_such_upload") return failure(404, "NoSuchUpload")
  if (written === "invalid_part") return failure(400, "InvalidPart")
  if (written === "part_too_small") return failure(400, "EntityTooSmall")
  if (written === "precondition_failed") return failure(412, "PreconditionFailed")
  const names = `<Bucket>${escapeXml(bucket)}</Bucket><Key>${escapeXml(key)}</Key>`
  const result = `<CompleteMultipartUploadResult>${names}<ETag>${escapeXml(written.etag)}</ETag></CompleteMultipartUploadResult>`
  return { ...xml(result), headers: { ...xml(result).headers, ...versionHeaders(written) } }
}

function partsOf(text: string): UploadPart[] {
  return [...text.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = ""]) => ({
    number: Number(textsOf(part, "PartNumber")[0]),
    etag: quoted(unescapeXml(textsOf(part, "ETag")[0] ?? "")),
  }))
}

function quoted(etag: string): string {
  return etag.startsWith('"') ? etag : `"${etag}"`
}

// --- Answers ------------------------------------------------------------------------------------------------------

function empty(status: number, headers: Record<string, string> = {}): Answer {
  return { status, headers, body: new Uint8Array() }
}

function xml(content: string, status = 200): Answer {
  return { status, headers: { "content-type": "application/xml" }, body: xmlDocument(content) }
}
