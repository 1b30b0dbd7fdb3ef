/** The openings of the stores of a bucket (`opening.ts`): found by a listing, brought when a read needs them, written anew. */
import { OWN_FOLDER } from "../local/local-table.ts"
import { manifestVersion } from "../local/manifest-file.ts"
import type { CachedObjects } from "./cached-objects.ts"
import { unescapeXml } from "./object-client.ts"
import { fitting, OPENING, type OpeningObject, packOpening, readOpening } from "./opening.ts"
import type { RangeCache } from "./range-cache.ts"
import type { AskStore } from "./upstream.ts"

export interface Openings {
  /** What a listing of the store at that root says. */
  noteListed(root: string, text: string): void
  /** Before an object is read from the bucket. Nothing where that would bring nothing. */
  bring(key: string): Promise<void> | undefined
  noteWritten(key: string): void
  /** Whether this process has committed to a store of whose newer versions its opening has too little. */
  isDue(root: string): Promise<boolean>
  write(root: string, objects: readonly OpeningObject[]): Promise<void>
  forget(): void
}

export interface OpeningsContext {
  readonly ask: AskStore
  readonly cache: RangeCache
  readonly objects: () => CachedObjects
}

interface Found {
  readonly etag: string
  readonly size: number
  brought: Promise<void> | undefined
}

/** An opening is written anew after so many commits to a table, and costs as much as ten or twenty requests. */
const COMMITS_MAX = 10
const VERSION = /^(.*\.lance)\/_versions\/([^/ ]+)/
const LISTED = /<Key>([^<]*)<\/Key>(?:(?!<Key>).)*?<ETag>([^<]*)<\/ETag>(?:(?!<Key>).)*?<Size>(\d+)<\/Size>/gs

export function createOpenings({ ask, cache, objects }: OpeningsContext): Openings {
  const found = new Map<string, Found>()
  /** By the folder of a table: the newest version that this process has committed. */
  const committed = new Map<string, bigint>()

  async function bring(root: string, { etag, size }: Found): Promise<void> {
    try {
      const content = await objects().whole(openingKey(root), etag, size)
      for (const object of (content && readOpening(content)) ?? []) cache.hold(object)
    } catch {
      // It is gone, or was replaced meanwhile: every file is read for itself.
    }
  }

  async function packedVersions(root: string): Promise<ReadonlyMap<string, bigint> | undefined> {
    const known = found.get(root)
    const content =
      known &&
      (await objects()
        .whole(openingKey(root), known.etag, known.size)
        .catch(() => undefined))
    const packed = content && readOpening(content)
    return packed && new Map(packed.map(({ name }) => versionOf(name)).filter((each) => each !== undefined))
  }

  return {
    noteListed: (root, text) => {
      const own = [...text.matchAll(LISTED)].find(([, key]) => key === openingKey(root))
      if (own === undefined) return
      const [, , etag = "", size = ""] = own
      found.set(root, { etag: unescapeXml(etag), size: Number(size), brought: undefined })
    },
    bring: (key) => {
      const [root, known] = [...found].find(([each]) => isBelow(key, each)) ?? []
      if (root === undefined || known === undefined) return undefined
      known.brought ??= bring(root, known)
      return known.brought
    },
    noteWritten: (key) => {
      const [table, version] = versionOf(key) ?? []
      if (table !== undefined && version !== undefined && version > (committed.get(table) ?? 0n))
        committed.set(table, version)
    },
    isDue: async (root) => {
      const own = [...committed].filter(([table]) => isBelow(table, root))
      if (own.length === 0) return false
      const packed = await packedVersions(root)
      return own.some(([table, version]) => version - (packed?.get(table) ?? 0n) >= COMMITS_MAX)
    },
    write: async (root, packed) => {
      const body = packOpening(fitting(packed))
      const reply = await ask({ method: "PUT", key: openingKey(root), query: "", headers: {}, body })
      const etag = reply.ok ? reply.headers.get("etag") : null
      if (etag === null) return
      cache.keep(`${openingKey(root)} ${etag}`, body)
      found.set(root, { etag, size: body.length, brought: undefined })
    },
    forget: () => {
      found.clear()
    },
  }
}

export function openingKey(root: string): string {
  return `${root}/${OWN_FOLDER}/${OPENING}`
}

/** In the store itself, and not in one of a namespace. */
function isBelow(path: string, root: string): boolean {
  return path.startsWith(`${root}/`) && !path.slice(root.length + 1).startsWith("ns-")
}

function versionOf(name: string): readonly [table: string, version: bigint] | undefined {
  const [, table, file = ""] = VERSION.exec(name) ?? []
  const version = manifestVersion(file)
  return table === undefined || version === undefined ? undefined : [table, version]
}
