/**
 * The thread that validates an export file: compressed entries come in, the hashes of their keys go out, in the same
 * order. It belongs to a separate process (`validate-process.ts`), whose main thread stays free to watch it.
 */
import { assert, toPondError } from "../../model/errors.ts"
import type { ThreadFailure } from "../../platform/threads.ts"
import { freeBytes } from "../../substrate/columns/row-batch.ts"
import type { ManifestEntry } from "../file/manifest.ts"
import { InvalidArchive } from "../file/tar.ts"
import { archivedTable } from "../rows/archived-tables.ts"
import { createEntryValidator, type Findings } from "./entry-validator.ts"

export type Asked =
  | { readonly ask: "entry"; readonly listed: ManifestEntry; readonly table: string; readonly content: Uint8Array }
  | { readonly ask: "findings" }

export type Answered =
  /** The first word: the thread has started. */
  | { readonly said: "ready" }
  | { readonly said: "validated"; readonly keyHashes: readonly Uint32Array[] }
  | ({ readonly said: "findings" } & Findings)
  | { readonly said: "refused"; readonly reason: string }
  | ThreadFailure

declare const self: {
  onmessage: ((event: { readonly data: Asked }) => void) | null
  postMessage(answered: Answered, moved?: readonly ArrayBufferLike[]): void
}

const validator = createEntryValidator()

function respond(asked: Asked): void {
  if (asked.ask === "findings") {
    self.postMessage({ said: "findings", ...validator.findings() })
    return
  }
  const table = archivedTable(asked.table)
  assert(table !== undefined, `${asked.table} is a table of export files`)
  const keyHashes = validator.validate(asked.listed, table, asked.content)
  freeBytes(asked.content)
  self.postMessage(
    { said: "validated", keyHashes },
    keyHashes.map(({ buffer }) => buffer),
  )
}

self.onmessage = ({ data }) => {
  try {
    respond(data)
  } catch (error) {
    const isRefusal = error instanceof InvalidArchive
    self.postMessage({
      said: isRefusal ? "refused" : "failed",
      reason: isRefusal ? error.message : toPondError(error).message,
    })
  }
}
self.postMessage({ said: "ready" })
