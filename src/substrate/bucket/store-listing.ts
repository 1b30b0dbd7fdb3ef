/**
 * One listing of a whole store, as a process begins: a machine that has never read the bucket would ask for the newest
 * version of each table by a separate listing, of 8 that a search takes. Each table is answered from it once, within
 * the time by which reads of a bucket may be behind anyway, and not after this process has written to that table.
 */
import type { Clock } from "../../platform/host/clock.ts"

export interface StoreListing {
  /** Asks for it; `text` gives the answer of the store, or nothing where it has none. */
  begin(prefix: string, text: () => Promise<string | undefined>): Promise<string | undefined>
  /** The answer to this query, where the listing has all of it. */
  take(query: string): Promise<string | undefined>
  /** An object was written. */
  wrote(key: string): void
  forget(): void
}

const VALID_MS = 5_000
/** Of others it is not known how a store writes them in its answer. */
const PLAIN = /^[\w./ -]*$/
const CONTENTS = /<Contents>.*?<Key>([^<]*)<\/Key>.*?<\/Contents>/gs
const VERSIONS = "_versions/"

interface Begun {
  readonly prefix: string
  readonly atMs: number
  readonly text: Promise<string | undefined>
  /** Prefixes that were answered, or may have changed. */
  readonly spent: Set<string>
}

export function createStoreListing(clock: Clock): StoreListing {
  const begun: Begun[] = []

  const usable = (prefix: string) =>
    begun.find((each) => {
      const isRecent = clock.monotonicMs() - each.atMs <= VALID_MS
      return isRecent && prefix.startsWith(each.prefix) && !each.spent.has(prefix)
    })

  return {
    begin: (prefix, ask) => {
      const text = ask().catch(() => undefined)
      begun.push({ prefix, atMs: clock.monotonicMs(), text, spent: new Set() })
      return text
    },
    take: async (query) => {
      const prefix = prefixOf(query)
      const found = prefix === undefined ? undefined : usable(prefix)
      if (prefix === undefined || found === undefined) return undefined
      found.spent.add(prefix)
      const text = await found.text
      return text === undefined ? undefined : partOf(text, prefix)
    },
    wrote: (key) => {
      const folder = key.slice(0, key.indexOf(".lance/") + ".lance/".length)
      for (const { spent } of begun) spent.add(`${folder}${VERSIONS}`)
    },
    forget: () => {
      begun.length = 0
    },
  }
}

/** Of a listing of versions, all of them from the first. */
function prefixOf(query: string): string | undefined {
  const parameters = new URLSearchParams(query)
  const prefix = parameters.get("prefix") ?? ""
  const isWhole = parameters.size === 2 && parameters.get("list-type") === "2"
  return isWhole && prefix.endsWith(`/${VERSIONS}`) && PLAIN.test(prefix) ? prefix : undefined
}

/** The names below a prefix, where the listing has all of them. */
export function namesBelow(text: string, prefix: string): readonly string[] | undefined {
  if (!PLAIN.test(prefix) || !hasAll(text, prefix)) return undefined
  return [...text.matchAll(CONTENTS)].flatMap(([, key = ""]) =>
    key.startsWith(prefix) ? [key.slice(prefix.length)] : [],
  )
}

function partOf(text: string, prefix: string): string | undefined {
  if (!hasAll(text, prefix)) return undefined
  const contents = [...text.matchAll(CONTENTS)].filter(([, key = ""]) => key.startsWith(prefix))
  const count = `<KeyCount>${contents.length}</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>`
  const head = `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Prefix>${prefix}</Prefix>${count}`
  return `${head}${contents.map(([whole]) => whole).join("")}</ListBucketResult>`
}

/** A page that is not the last has all names up to its own last, of a store that lists them in order: some do not. */
function hasAll(text: string, prefix: string): boolean {
  if (!text.includes("<IsTruncated>true</IsTruncated>")) return text.includes("</ListBucketResult>")
  const keys = [...text.matchAll(CONTENTS)].map(([, key = ""]) => key)
  const isInOrder = keys.every((key, at) => at === 0 || (keys[at - 1] as string) < key)
  const last = keys.at(-1)
  return isInOrder && last !== undefined && last > prefix && !last.startsWith(prefix)
}
