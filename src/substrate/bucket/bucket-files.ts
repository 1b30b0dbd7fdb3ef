/**
 * The files of a store in a bucket, for what the engine has no call for: notes beside the tables, checks and repairs. The
 * client is that of Bun, with the credentials that the engine is given. Paths are keys below the bucket.
 */
import { PondError } from "../../model/errors.ts"
import type { DiskFiles } from "../local/disk-files.ts"
import type { Location } from "../location.ts"
import { s3AccessOf } from "./s3-access.ts"

export interface BucketFiles extends DiskFiles {
  /** Where nobody else has made it: false where somebody has. */
  create(path: string, content: Uint8Array): Promise<boolean>
}

/** Nothing where no client of ours has access. */
export function openBucketFiles(
  location: Location,
): { readonly files: BucketFiles; readonly root: string } | undefined {
  const access = s3AccessOf(location)
  if (access === undefined) return undefined
  const { bucket, endpoint, credentials, root } = access
  const client = new Bun.S3Client({
    accessKeyId: credentials.accessKeyId,
    secretAccessKey: credentials.secretAccessKey,
    bucket,
    region: credentials.region ?? "us-east-1",
    ...(credentials.sessionToken === undefined ? {} : { sessionToken: credentials.sessionToken }),
    ...(endpoint === undefined ? {} : { endpoint }),
  })
  return { files: filesOf(client, location.shown), root }
}

const PIECE_BYTES = 4 * 1024 * 1024

function filesOf(client: Bun.S3Client, store: string): BucketFiles {
  /** Of what was listed last: sizes and times are asked for one by one. */
  const sizes = new Map<string, number>()
  const times = new Map<string, number>()
  const attempt = <Result>(call: () => Promise<Result>) =>
    call().catch((cause: unknown) => {
      throw unreachable(store, cause)
    })

  async function list(folder: string): Promise<string[]> {
    const prefix = `${folder}/`
    const paths: string[] = []
    forgetBelow([sizes, times], prefix)
    let startAfter: string | undefined
    do {
      const page = await attempt(() => client.list({ prefix, ...(startAfter === undefined ? {} : { startAfter }) }))
      for (const { key, size: bytes = 0, lastModified } of page.contents ?? []) {
        sizes.set(key, bytes)
        if (lastModified !== undefined) times.set(key, Date.parse(lastModified))
        paths.push(key.slice(prefix.length))
        startAfter = key
      }
      if (page.isTruncated !== true) startAfter = undefined
    } while (startAfter !== undefined)
    return paths
  }

  async function size(path: string): Promise<number | undefined> {
    const known = sizes.get(path)
    if (known !== undefined) return known
    return (await unlessAbsent(attempt(() => client.stat(path))))?.size
  }

  const read = (path: string) => attempt(() => client.file(path).bytes())

  async function write(path: string, content: string | Uint8Array): Promise<void> {
    await attempt(() => client.write(path, content))
    sizes.set(path, content.length)
    times.delete(path)
  }

  async function remove(path: string): Promise<void> {
    await unlessAbsent(attempt(() => client.delete(path)))
    sizes.delete(path)
  }

  return {
    list,
    size,
    read,
    write,
    remove,
    create: async (path, content) => {
      const url = client.presign(path, { method: "PUT", expiresIn: 600 })
      const answer = await attempt(() =>
        fetch(url, { method: "PUT", headers: { "if-none-match": "*" }, body: content }),
      )
      if (answer.status === 412 || answer.status === 409) return false
      if (!answer.ok) throw unreachable(store, new Error(`status ${answer.status}`))
      sizes.set(path, content.length)
      return true
    },
    find: (path) => unlessAbsent(read(path)),
    readEnd: async (path, bytes) => {
      const length = (await size(path)) ?? 0
      return await attempt(() =>
        client
          .file(path)
          .slice(Math.max(0, length - bytes), length)
          .bytes(),
      )
    },
    checksum: async (path) => {
      const content = await unlessAbsent(read(path))
      return content && { bytes: content.length, hash: hashOf(content) }
    },
    append: async (path, text) => {
      const before = (await unlessAbsent(read(path))) ?? new Uint8Array()
      await write(path, Buffer.concat([before, Buffer.from(text)]))
    },
    rename: async (from, to) => {
      await write(to, await read(from))
      await remove(from)
    },
    modifiedMs: async (path) =>
      times.get(path) ?? (await unlessAbsent(attempt(() => client.stat(path))))?.lastModified.getTime(),
    sizesAtOnce: (paths) => paths.map(() => undefined),
    statSignature: () => undefined,
    sync: () => Promise.resolve(),
  }
}

function forgetBelow(known: readonly Map<string, number>[], prefix: string): void {
  for (const each of known) for (const key of each.keys()) if (key.startsWith(prefix)) each.delete(key)
}

/** As `DiskFiles.checksum` says. */
function hashOf(content: Uint8Array): string {
  let hash = 0n
  let at = 0
  do {
    hash = Bun.hash.xxHash3(content.subarray(at, at + PIECE_BYTES), hash)
    at += PIECE_BYTES
  } while (at < content.length)
  return hash.toString(16).padStart(16, "0")
}

const ABSENT = ["NoSuchKey", "NotFound"]

async function unlessAbsent<Value>(pending: Promise<Value>): Promise<Value | undefined> {
  try {
    return await pending
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly code?: string } }
    if (cause?.code !== undefined && ABSENT.includes(cause.code)) return undefined
    throw error
  }
}

function unreachable(store: string, cause: unknown): PondError {
  return new PondError(
    "storage_unavailable",
    `The store ${store} does not answer. Check its URL, the network and the credentials.`,
    { details: { failure: "unreachable" }, cause },
  )
}
