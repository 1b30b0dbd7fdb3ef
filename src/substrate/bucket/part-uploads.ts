/**
 * Objects that the engine uploads in parts, as files of a compaction, put together for the caches once the store has them all:
 * what pond has written need not be read again. The first get of a message behind an optimize took 20 requests and 3 MB.
 */
export interface PartUploads {
  /** The store holds that part. */
  notePart(query: string, part: Uint8Array): void
  /** Ends an upload: what its parts are together; nothing where too much was on its way to hold it here. */
  finish(query: string): Uint8Array | undefined
}

/** Of all uploads together. One that does not fit is read from the store when it is asked for. */
const BYTES_MAX = 48_000_000

export function createPartUploads(bytesMax = BYTES_MAX): PartUploads {
  const uploads = new Map<string, Map<number, Uint8Array>>()
  /** Uploads that lack a part here. */
  const lacking = new Set<string>()
  let bytes = 0

  function drop(query: string): void {
    const upload = uploadOf(query)
    for (const part of uploads.get(upload)?.values() ?? []) bytes -= part.length
    uploads.delete(upload)
    lacking.delete(upload)
  }

  return {
    notePart: (query, part) => {
      const upload = uploadOf(query)
      if (lacking.has(upload)) return
      const parts = uploads.get(upload) ?? new Map<number, Uint8Array>()
      const number = Number(new URLSearchParams(query).get("partNumber"))
      bytes += part.length - (parts.get(number)?.length ?? 0)
      parts.set(number, part)
      uploads.set(upload, parts)
      if (bytes <= bytesMax) return
      drop(query)
      lacking.add(upload)
    },
    finish: (query) => {
      const parts = uploads.get(uploadOf(query))
      drop(query)
      if (parts === undefined) return undefined
      const inOrder = Array.from({ length: parts.size }, (_, at) => parts.get(at + 1))
      const isWhole = inOrder.every((part) => part !== undefined)
      return isWhole ? new Uint8Array(Buffer.concat(inOrder as Uint8Array[])) : undefined
    },
  }
}

function uploadOf(query: string): string {
  return new URLSearchParams(query).get("uploadId") ?? ""
}
