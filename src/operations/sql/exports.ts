/**
 * The files that queries write: in one directory that only their owner can read, with names that pond makes and recognizes.
 * They are answers and no archive: the oldest are deleted.
 */
import { readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { PondError } from "../../model/errors.ts"
import type { Host } from "../../platform/host/host.ts"
import { ensureWritable } from "../../platform/host/paths.ts"

export const EXPORT_FORMATS = ["ndjson", "csv", "parquet"] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const EXPORT_MIMES: Readonly<Record<ExportFormat, string>> = {
  ndjson: "application/x-ndjson",
  csv: "text/csv; charset=utf-8",
  parquet: "application/vnd.apache.parquet",
}

const NAME = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(ndjson|csv|parquet)$/
const KEPT_MS = 24 * 3_600_000
const KEPT_MAX = 50

export interface NewExport {
  readonly id: string
  readonly path: string
}

export function newExport(host: Host, format: ExportFormat): NewExport {
  const folder = ensureWritable(exportFolder(host))
  clean(folder, host.clock.nowMs())
  const id = `${Bun.randomUUIDv7()}.${format}`
  return { id, path: join(folder, id) }
}

export interface StoredExport {
  readonly id: string
  readonly format: ExportFormat
  readonly path: string
  readonly bytes: number
}

/** A name of another shape is not looked for on the disk at all. */
export function storedExport(host: Host, id: string): StoredExport {
  const format = NAME.exec(id)?.[1] as ExportFormat | undefined
  if (format === undefined) throw noExport(id)
  const path = join(exportFolder(host), id)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile() !== true) throw noExport(id)
  return { id, format, path, bytes: found.size }
}

function noExport(id: string): PondError {
  return new PondError(
    "not_found",
    `No export ${JSON.stringify(id.slice(0, 80))}. Exports are kept for a day: run the query again.`,
    { details: { export: id.slice(0, 80) } },
  )
}

function exportFolder(host: Host): string {
  return join(host.path("cache"), "sql-exports")
}

function clean(folder: string, nowMs: number): void {
  const files = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .map((name) => ({
      path: join(folder, name),
      at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .toSorted((left, right) => right.at - left.at)
  for (const [index, { path, at }] of files.entries()) {
    if (index >= KEPT_MAX - 1 || nowMs - at > KEPT_MS) rmSync(path, { force: true })
  }
}
