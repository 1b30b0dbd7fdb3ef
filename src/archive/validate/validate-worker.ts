/** The entry of the thread that judges an archive beside the storing: contents come in, their rows go out, in that order. */
import { assert, toPondError } from "../../model/errors.ts"
import type { ThreadFailure } from "../../platform/threads.ts"
import { freeBytes } from "../../substrate/columns/row-batch.ts"
import type { ManifestEntry } from "../file/manifest.ts"
import { NotAnArchive } from "../file/tar.ts"
import { archivedTable } from "../rows/archived-tables.ts"
import { createJudge, type Judged, type Verdict } from "./entry-validator.ts"

export type Asked =
  | { readonly ask: "entry"; readonly listed: ManifestEntry; readonly table: string; readonly content: Uint8Array }
  | { readonly ask: "verdict" }

export type Answered =
  /** The first word: the thread has started. */
  | { readonly said: "ready" }
  | ({ readonly said: "judged" } & Judged)
  | ({ readonly said: "verdict" } & Verdict)
  | { readonly said: "refused"; readonly reason: string }
  | ThreadFailure

declare const self: {
  onmessage: ((event: { readonly data: Asked }) => void) | null
  postMessage(answered: Answered, moved?: readonly ArrayBufferLike[]): void
}

const judge = createJudge()

function answer(asked: Asked): void {
  if (asked.ask === "verdict") {
    self.postMessage({ said: "verdict", ...judge.verdict() })
    return
  }
  const table = archivedTable(asked.table)
  assert(table !== undefined, `${asked.table} is a table of archives`)
  const judged = judge.entry(asked.listed, table, asked.content)
  freeBytes(asked.content)
  self.postMessage(
    { said: "judged", ...judged },
    [judged.raw, ...judged.keyHashes].map(({ buffer }) => buffer),
  )
}

self.onmessage = ({ data }) => {
  try {
    answer(data)
  } catch (error) {
    const isRefusal = error instanceof NotAnArchive
    self.postMessage({
      said: isRefusal ? "refused" : "failed",
      reason: isRefusal ? error.message : toPondError(error).message,
    })
  }
}
self.postMessage({ said: "ready" })
