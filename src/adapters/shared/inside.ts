/**
 * Bytes that lie inside of a file. What is deflated can only be read from its beginning, so that the stream of the member that
 * was read last stays open: sessions of an export are read in the order in which they lie there, and it is inflated once.
 */
import { open, stat } from "node:fs/promises"
import { memberBytes, ZipFault, type ZipMember } from "../../platform/files/zip.ts"

/** Bytes of a file, or of a member of it where it is a zip. Plain data, because a plan goes to other threads. */
export interface Inside {
  readonly member?: ZipMember | undefined
  readonly from: number
  readonly to: number
}

export async function readInside(path: string, { member, from, to }: Inside): Promise<Uint8Array> {
  if (member === undefined) return await readRange(path, from, to)
  const { ino, size, mtimeMs } = await stat(path)
  const key = [path, ino, size, mtimeMs, member.at].join("|")
  if (last?.key !== key || last.stream.at > from) {
    await last?.stream.close()
    last = { key, stream: openStream(memberBytes(path, member)) }
  }
  const { stream } = last
  try {
    const bytes = await stream.read(from, to)
    if (to < member.bytes) return bytes
    last = undefined
    await stream.close()
    return bytes
  } catch (error) {
    last = undefined
    await stream.close()
    throw error
  }
}

let last: { readonly key: string; readonly stream: Stream } | undefined

interface Stream {
  readonly at: number
  read(from: number, to: number): Promise<Uint8Array>
  close(): Promise<void>
}

function openStream(pieces: AsyncGenerator<Uint8Array>): Stream {
  let at = 0
  let rest: Uint8Array = new Uint8Array()
  return {
    get at() {
      return at
    },
    read: async (from, to) => {
      const taken: Uint8Array[] = []
      while (at < to) {
        if (rest.length === 0) {
          const { done, value } = await pieces.next()
          if (done) throw new ZipFault("a member of the zip ends too early")
          rest = value
        }
        const end = Math.min(rest.length, to - at)
        const start = Math.min(end, Math.max(0, from - at))
        if (start < end) taken.push(rest.subarray(start, end))
        rest = rest.subarray(end)
        at += end
      }
      return Buffer.concat(taken)
    },
    close: async () => void (await pieces.return(undefined)),
  }
}

async function readRange(path: string, from: number, to: number): Promise<Uint8Array> {
  const file = await open(path, "r")
  try {
    const bytes = new Uint8Array(to - from)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
