/** The words of Kimi's records that more than one file asks for. */

export const BRAND = { id: "kimi" }

export const APPENDED = "context.append_message"
export const LOOP_EVENT = "context.append_loop_event"
export const COMPACTED = "context.apply_compaction"

/** What a reference to a picture in a separate file begins with: `blobref:<media type>;<hash>`. */
export const BLOB_REFERENCE = /^blobref:([^;]*);([\da-f]{64})$/

/** Of kimi-cli: what its model is sent now. */
export const LIVE = /(?:^|\/)context\.jsonl$/

/** Whether a session of these files is one of kimi-cli, which keeps what its model is sent apart from what was shown. */
export function isOfOldClient(relativePath: string): boolean {
  return !/(?:^|\/)agents\/[^/]+\/wire\.jsonl$/.test(relativePath)
}
