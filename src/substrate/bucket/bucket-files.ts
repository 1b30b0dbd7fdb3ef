/**
 * The files of a store in a bucket, for what the engine has no call for: notes beside the tables, checks and repairs. Paths
 * are keys below the bucket.
 */
import { PondError } from "../../model/errors.ts"
import type { Clock } from "../../platform/host/clock.ts"
import type { DiskFiles } from "../local/disk-files.ts"
import type { Location } from "../location.ts"
import { openAzureClient } from "./azure-client.ts"
import { openGoogleClient } from "./google-client.ts"
import type { ObjectClient, OpenedClient } from "./object-client.ts"
import { openS3Client } from "./s3-client.ts"

export interface BucketFiles extends DiskFiles {
  /** Where nobody else has made it: false where somebody has. */
  create(path: string, content: Uint8Array): Promise<boolean>
}

/** Nothing where no client of ours has access. */
export function openBucketFiles(
  location: Location,
  clock: Clock,
): { readonly files: BucketFiles; readonly root: string } | undefined {
  const opened = openClient(location, clock)
  return opened && { files: filesOf(opened.client, location.shown), root: opened.root }
}

function openClient(location: Location, clock: Clock): OpenedClient | undefined {
  if (location.backend === "gs") return openGoogleClient(location, clock)
  return location.backend === "az" ? openAzureClient(location, clock) : openS3Client(location)
}

const PIECE_BYTES = 4 * 1024 * 1024

function filesOf(client: ObjectClient, store: string): BucketFiles {
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
    let next: string | undefined
    do {
      const asked = next
      const page = await attempt(() => client.list(prefix, asked))
      for (const { key, bytes, modifiedMs } of page.objects) {
        sizes.set(key, bytes)
        times.set(key, modifiedMs)
        paths.push(key.slice(prefix.length))
      }
      next = page.next
    } while (next !== undefined)
    return paths
  }

  const size = async (path: string) => sizes.get(path) ?? (await attempt(() => client.stat(path)))?.bytes

  const find = (path: string) => attempt(() => client.read(path))

  async function read(path: string): Promise<Uint8Array> {
    const found = await find(path)
    if (found === undefined) throw unreachable(store, new Error("an object that was listed is gone"))
    return found
  }

  async function write(path: string, content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === "string" ? Buffer.from(content) : content
    await attempt(() => client.write(path, bytes))
    sizes.set(path, bytes.length)
    times.delete(path)
  }

  async function remove(path: string): Promise<void> {
    await attempt(() => client.remove(path))
    sizes.delete(path)
  }

  return {
    list,
    size,
    read,
    find,
    write,
    remove,
    create: async (path, content) => {
      const isMade = await attempt(() => client.create(path, content))
      if (isMade) sizes.set(path, content.length)
      return isMade
    },
    readEnd: async (path, bytes) => {
      const length = (await size(path)) ?? 0
      if (length <= bytes) return await read(path)
      return (await attempt(() => client.read(path, length - bytes))) ?? new Uint8Array()
    },
    checksum: async (path) => {
      const content = await find(path)
      return content && { bytes: content.length, hash: hashOf(content) }
    },
    append: async (path, text) => {
      const before = (await find(path)) ?? new Uint8Array()
      await write(path, Buffer.concat([before, Buffer.from(text)]))
    },
    rename: async (from, to) => {
      await write(to, await read(from))
      await remove(from)
    },
    modifiedMs: async (path) => times.get(path) ?? (await attempt(() => client.stat(path)))?.modifiedMs,
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

function unreachable(store: string, cause: unknown): PondError {
  return new PondError(
    "storage_unavailable",
    `The store ${store} does not answer. Check its URL, the network and the credentials.`,
    { details: { failure: "unreachable" }, cause },
  )
}
