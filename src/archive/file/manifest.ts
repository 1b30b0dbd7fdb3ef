/**
 * The manifest of an export file, the last entry but one: what the file holds, and the checksum of every entry. The last
 * entry is the checksum of the manifest, so no byte of content is without one.
 */
import { type Static, Type } from "typebox"
import { Value } from "typebox/value"
import { sha256Of } from "../../platform/sha256.ts"
import { LABEL_FIELDS, type LabelField, type LabelRow } from "../../sessions/write/labels.ts"
import type { ArchivedTable } from "../rows/archived-tables.ts"
import { InvalidArchive } from "./tar.ts"

export const MANIFEST_NAME = "manifest.json"
export const MANIFEST_SUM_NAME = "manifest.sha256"
const FORMAT = "pond archive"
const FORMAT_VERSION = 1

const Count = Type.Integer({ minimum: 0 })
const closed = { additionalProperties: false }

const ManifestEntry = Type.Object(
  {
    name: Type.String(),
    rows: Count,
    /** `bytes` compressed, as the entry lies in the file; `raw_bytes` decompressed. */
    bytes: Count,
    raw_bytes: Count,
    sha256: Type.String(),
  },
  closed,
)
export type ManifestEntry = Static<typeof ManifestEntry>

/** An entry that was found in the file, of a table that pond knows. */
export interface ArchiveEntry extends ManifestEntry {
  readonly table: ArchivedTable
  readonly offset: number
}

/** Longer than any that pond writes: a name has 500 characters and a note 20,000. */
const LabelText = Type.String({ maxLength: 100_000 })

/** In the manifest, whose unknown fields an older pond ignores: it would refuse a file with a table that it does not know. */
const ManifestLabel = Type.Object(
  {
    session_id: Type.String({ minLength: 1 }),
    id: Type.String({ minLength: 1, maxLength: 500 }),
    field: Type.Enum([...LABEL_FIELDS]),
    value: LabelText,
    /** Microseconds since 1970. */
    noted_at: Count,
    is_set: Type.Boolean(),
    host: LabelText,
  },
  closed,
)

const Manifest = Type.Object({
  format: Type.Literal(FORMAT),
  format_version: Type.Integer(),
  pond_version: Type.String(),
  created_at: Type.String(),
  /** Whether this is the whole store. Otherwise sessions were chosen. */
  whole: Type.Boolean(),
  tables: Type.Array(Type.Object({ name: Type.String(), schema_version: Type.Integer(), rows: Count }, closed)),
  entries: Type.Array(ManifestEntry),
  labels: Type.Optional(Type.Array(ManifestLabel)),
})
export type Manifest = Static<typeof Manifest>

const MANIFEST_BYTES_MAX = 64 * 1024 * 1024

export function manifestBytes(manifest: Omit<Manifest, "format" | "format_version">): Uint8Array {
  return new TextEncoder().encode(
    `${JSON.stringify({ format: FORMAT, format_version: FORMAT_VERSION, ...manifest }, null, 1)}\n`,
  )
}

/** In the form that `sha256sum -c` reads. */
export function manifestSum(manifest: Uint8Array): Uint8Array {
  return new TextEncoder().encode(`${sha256Of(manifest)}  ${MANIFEST_NAME}\n`)
}

/** As they stand in the manifest; nothing where there are none. */
export function toManifestLabels(rows: readonly LabelRow[]): Pick<Manifest, "labels"> {
  if (rows.length === 0) return {}
  return { labels: rows.map((row) => ({ ...row, field: row.field as LabelField, noted_at: Number(row.noted_at) })) }
}

export function labelRowsOf({ labels = [] }: Pick<Manifest, "labels">): LabelRow[] {
  return labels.map((label) => ({ ...label, noted_at: BigInt(label.noted_at) }))
}

export type ReadManifest =
  | { readonly kind: "manifest"; readonly manifest: Manifest }
  /** Written by a newer pond, in a format that this one does not know. */
  | { readonly kind: "newer"; readonly version: number }

export function readManifest(bytes: Uint8Array): ReadManifest {
  if (bytes.length > MANIFEST_BYTES_MAX) throw new InvalidArchive("its manifest is too large")
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes).toString("utf8"))
  } catch (cause) {
    throw new InvalidArchive("its manifest is not JSON", { cause })
  }
  const version = (value as { readonly format_version?: unknown } | null)?.format_version
  if (typeof version === "number" && version > FORMAT_VERSION) return { kind: "newer", version }
  if (!Value.Check(Manifest, value)) throw new InvalidArchive("its manifest has an unexpected structure")
  return { kind: "manifest", manifest: value }
}
