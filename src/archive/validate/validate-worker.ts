/** The worker thread that validates an export file: compressed entries come in, their rows go out, in the same order. */
import { assert, toPondError } from "../../model/errors.ts"
import type { ThreadFailure } from "../../platform/threads.ts"
import { freeBytes } from "../../substrate/columns/row-batch.ts"
import type { ManifestEntry } from "../file/manifest.ts"
import { InvalidArchive } from "../file/tar.ts"
import { archivedTable } from "../rows/archived-tables.ts"
import { createEntryValidator, type Findings, type ValidatedRows } from "./entry-validator.ts"

export type Asked =
  | { readonly ask: "entry"; readonly listed: ManifestEntry; readonly table: string; readonly content: Uint8Array }
  | { readonly ask: "findings" }

export type Answered =
  /** The first word: the thread has started. */
  | { readonly said: "ready" }
  | ({ readonly said: "validated" } & ValidatedRows)
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
  const validated = validator.validate(asked.listed, table, asked.content)
  freeBytes(asked.content)
  self.postMessage(
    { said: "validated", ...validated },
    [validated.raw, ...validated.keyHashes].map(({ buffer }) => buffer),
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
