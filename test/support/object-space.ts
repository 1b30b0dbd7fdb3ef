/**
 * Buckets of objects in memory, with the guarantees of a real object store and no protocol: one write of a key
 * happens at once or not at all, every write gives the key a new version, and a write may name the version that it
 * replaces. Knows nothing of HTTP, of S3 or of Google: `object-protocol.ts` speaks those.
 */

export interface StoredObject {
  readonly bytes: Uint8Array
  /** What S3 calls a version of the bytes: quoted, and the same for the same single upload. */
  readonly etag: string
  /** What Google calls a version: grows with every write of any object, never used twice. */
  readonly generation: number
  readonly modified: Date
}

/** What must hold of a key for a write to happen. Without any, every write does. */
export interface Precondition {
  readonly isAbsent?: boolean
  readonly etag?: string
  readonly generation?: number
}

export interface Listing {
  readonly objects: readonly (readonly [key: string, object: StoredObject])[]
  readonly prefixes: readonly string[]
  /** The last name of a page that is not the last page. */
  readonly next?: string
}

export interface ListQuery {
  readonly prefix: string
  readonly delimiter: string
  readonly after: string
  readonly limit: number
}

export interface UploadPart {
  readonly number: number
  readonly etag: string
}

export type Assembled = StoredObject | "precondition_failed" | "no_such_upload" | "invalid_part" | "part_too_small"

interface Upload {
  readonly name: string
  readonly parts: Map<number, { readonly bytes: Uint8Array; readonly etag: string }>
}

/** Every part of an upload but its last has at least this size: Amazon and Google both refuse smaller ones. */
const PART_BYTES_MIN = 5 * 1024 * 1024

export type ObjectSpace = ReturnType<typeof createObjectSpace>

export function createObjectSpace(buckets: readonly string[]) {
  const spaces = new Map(buckets.map((bucket) => [bucket, new Map<string, StoredObject>()]))
  const uploads = new Map<string, Upload>()
  let generation = 0
  let uploadCount = 0

  function objectsOf(bucket: string): Map<string, StoredObject> {
    const found = spaces.get(bucket)
    if (found === undefined) throw new Error(`no bucket ${bucket}`)
    return found
  }

  function put(bucket: string, key: string, bytes: Uint8Array, etag = etagOf(bytes)): StoredObject {
    generation += 1
    const object = { bytes, etag, generation, modified: new Date() }
    objectsOf(bucket).set(key, object)
    return object
  }

  return {
    has: (bucket: string) => spaces.has(bucket),
    get: (bucket: string, key: string) => objectsOf(bucket).get(key),
    keys: (bucket: string) => [...objectsOf(bucket).keys()].sort(byBytes),
    remove: (bucket: string, key: string) => objectsOf(bucket).delete(key),
    put,

    /** The test and the write are one step: nothing else runs between them. */
    putIf(bucket: string, key: string, bytes: Uint8Array, condition: Precondition): StoredObject | undefined {
      if (!holds(objectsOf(bucket).get(key), condition)) return undefined
      return put(bucket, key, bytes)
    },

    list: (bucket: string, query: ListQuery) => list(objectsOf(bucket), query),

    beginUpload(bucket: string, key: string): string {
      uploadCount += 1
      const id = `upload-${uploadCount}`
      uploads.set(id, { name: `${bucket}/${key}`, parts: new Map() })
      return id
    },

    putPart(id: string, number: number, bytes: Uint8Array): string | undefined {
      const etag = etagOf(bytes)
      uploads.get(id)?.parts.set(number, { bytes, etag })
      return uploads.has(id) ? etag : undefined
    },

    /** A failed precondition leaves the upload open, as on a real store: its owner may still abort it. */
    completeUpload(
      bucket: string,
      key: string,
      id: string,
      named: readonly UploadPart[],
      condition: Precondition,
    ): Assembled {
      const upload = uploads.get(id)
      if (upload === undefined || upload.name !== `${bucket}/${key}`) return "no_such_upload"
      const parts = named.map((wanted) => {
        const part = upload.parts.get(wanted.number)
        return part?.etag === wanted.etag ? part : undefined
      })
      const inOrder = named.every(({ number }, at) => at === 0 || number > (named[at - 1]?.number ?? 0))
      const whole = parts.filter((part) => part !== undefined)
      if (whole.length === 0 || whole.length < parts.length || !inOrder) return "invalid_part"
      if (whole.slice(0, -1).some(({ bytes }) => bytes.length < PART_BYTES_MIN)) return "part_too_small"
      if (!holds(objectsOf(bucket).get(key), condition)) return "precondition_failed"
      uploads.delete(id)
      const digests = Buffer.concat(whole.map((part) => Buffer.from(part.etag.slice(1, -1), "hex")))
      const etag = `"${md5(digests)}-${whole.length}"`
      return put(bucket, key, new Uint8Array(Buffer.concat(whole.map(({ bytes }) => bytes))), etag)
    },

    abortUpload: (id: string) => uploads.delete(id),
    openUploads: () => uploads.size,
  }
}

function holds(current: StoredObject | undefined, condition: Precondition): boolean {
  if (condition.isAbsent === true && current !== undefined) return false
  if (condition.etag !== undefined && current?.etag !== condition.etag) return false
  return condition.generation === undefined || (current?.generation ?? 0) === condition.generation
}

function list(objects: ReadonlyMap<string, StoredObject>, query: ListQuery): Listing {
  const { prefix, delimiter, after, limit } = query
  const found: (readonly [string, StoredObject])[] = []
  const prefixes: string[] = []
  let last = ""
  for (const [key, object] of [...objects].sort(([left], [right]) => byBytes(left, right))) {
    if (!key.startsWith(prefix)) continue
    const cut = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length)
    const name = cut < 0 ? key : key.slice(0, cut + delimiter.length)
    if (byBytes(name, after) <= 0 || name === prefixes.at(-1)) continue
    if (found.length + prefixes.length === limit) return { objects: found, prefixes, next: last }
    if (cut < 0) found.push([key, object])
    else prefixes.push(name)
    last = name
  }
  return { objects: found, prefixes }
}

/** Stores order keys by their UTF-8 bytes, which is not the order of UTF-16 units above U+D7FF. */
function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

function etagOf(bytes: Uint8Array): string {
  return `"${md5(bytes)}"`
}

function md5(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("md5").update(bytes).digest("hex")
}
