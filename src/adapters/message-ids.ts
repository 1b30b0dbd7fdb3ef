/**
 * The ids of a session's messages: its source's own, or, where a record has none, one made from the content of the record.
 * No two messages get the same one, and no two parts of a message. Knows no client.
 */

import { stringifyJson } from "../model/json.ts"
import { FingerprintSet } from "../platform/fingerprint-set.ts"
import type { RawRecord } from "./adapter.ts"

const CONTENT_ID = "pond-"
const CONTENT_ID_FORM = /^pond-[0-9a-f]{16}$/

/** Whether a message's id was made from the content of its record, because its source gave it none. */
export function hasContentId(id: string): boolean {
  // Asked for every message, and few ids begin with its first letter.
  return id.charCodeAt(0) === 112 && id.startsWith(CONTENT_ID)
}

export interface MessageIds {
  /** The id, or where it is taken the id with a number: the same record twice is two records (`adapter-integrity-no-silent-drops`). */
  free(wanted: string): string
  /** The same, for a record without its own id. */
  ofContent(raw: RawRecord): string
}

/** Of an id that `free` gave: the one that it gave before, for the same wanted id. */
export function idBefore(id: string, wanted: string): string | undefined {
  const count = id.startsWith(`${wanted}#`) ? Number(id.slice(wanted.length + 1)) : Number.NaN
  if (!Number.isSafeInteger(count) || count < 2) return undefined
  return count === 2 ? wanted : `${wanted}#${count - 1}`
}

/** So many ids are held as they are, which is more than a session has. Of a log of gigabytes the others are held by their hashes. */
const EXACT_IDS_MAX = 100_000

export function createMessageIds(known: ReadonlySet<string>): MessageIds {
  const taken = new Set<string>()
  // Made when they are needed: most sessions are short, and many have an id in each record.
  let others: FingerprintSet | undefined
  /** An id that is made of a hash is held as that hash: half of a log can be records without an id. */
  let hashes: FingerprintSet | undefined
  // The number that the next one like it gets: a client that writes the same record thousands of times must not make us
  // count from two each time.
  const next = new Map<string, number>()

  /** Gives whether it was free. One question for nearly every id: this is asked for every message. */
  function take(id: string): boolean {
    if (taken.size < EXACT_IDS_MAX) {
      const before = taken.size
      taken.add(id)
      return taken.size > before && !isKnown(id)
    }
    others ??= new FingerprintSet()
    if (taken.has(id) || isKnown(id) || others.mayHave(id)) return false
    others.add(id)
    return true
  }

  function isKnown(id: string): boolean {
    return known.size > 0 && known.has(id)
  }

  function numbered(wanted: string): string {
    let count = next.get(wanted) ?? 2
    let id = `${wanted}#${count}`
    while (!take(id)) id = `${wanted}#${++count}`
    // A second one is common: opencode's results share the id of their call. Looking for its number once more costs less.
    if (count > 2) next.set(wanted, count + 1)
    return id
  }

  /** Whether the hash in `HASH` was free. */
  function takeHash(id: string): boolean {
    hashes ??= new FingerprintSet()
    return hashes.addHash(HASH.getUint32(0), HASH.getUint32(4)) && !isKnown(id)
  }

  return {
    free(wanted) {
      if (!hasContentId(wanted) || !CONTENT_ID_FORM.test(wanted)) return take(wanted) ? wanted : numbered(wanted)
      HASH.setBigUint64(0, BigInt(`0x${wanted.slice(CONTENT_ID.length)}`))
      return takeHash(wanted) ? wanted : numbered(wanted)
    },
    ofContent(raw) {
      HASH.setBigUint64(0, contentHash(raw))
      const id = CONTENT_ID + HASH_BYTES.toHex()
      return takeHash(id) ? id : numbered(id)
    },
  }
}

/**
 * The ids of the parts of one message. A taken id gets a number: tools that remove secrets write one word over every id that
 * looks like one, and a part whose key is taken would not be stored.
 */
export function createPartIds(): (wanted: string) => string {
  const taken = new Set<string>()
  let next: Map<string, number> | undefined
  return (wanted) => {
    let id = wanted
    if (taken.has(id)) {
      next ??= new Map()
      let count = next.get(wanted) ?? 2
      for (; taken.has(id); count++) id = `${wanted}#${count}`
      next.set(wanted, count)
    }
    taken.add(id)
    return id
  }
}

/** The hash that is being looked at: to be read in two halves, and to be spelled. */
const HASH = new DataView(new ArrayBuffer(8))
const HASH_BYTES = new Uint8Array(HASH.buffer)

/** The same record gives the same id on every machine, in every version (`lance-deterministic-pk`): xxHash is a fixed algorithm. */
function contentHash(raw: RawRecord): bigint {
  if (raw.form === "row") return Bun.hash.xxHash64(stringifyJson(raw.row))
  if (raw.form === "bytes") return Bun.hash.xxHash64(raw.bytes)
  return raw.hash ?? Bun.hash.xxHash64(raw.text)
}
