/**
 * JSON that was read from a client's files: the only thing that the extractors (`extract.ts`) and spots (`spot.ts`) take.
 * The compiler tells it from JSON of any other origin by a brand that no value written in code has: neither a literal nor
 * an object that was put together, also where its type was widened (`model-no-synthesis`). The brand goes all the way
 * down: what stands in a record is source data too. It exists for the compiler alone, and is `JsonValue` for every reader.
 */
import { type ExactNumber, isJsonObject, type JsonObject, type JsonValue } from "../model/json.ts"

declare const brand: unique symbol

/** An interface, because an index signature takes a type literal for an object with keys. */
export interface FromSource {
  readonly [brand]: true
}

export interface SourceList extends ReadonlyArray<SourceValue>, FromSource {}

export interface SourceObject extends FromSource {
  readonly [key: string]: SourceValue
}

/** `null` says nothing that could be invented, and stands for itself. */
export type SourceValue =
  | null
  | (boolean & FromSource)
  | (number & FromSource)
  | (string & FromSource)
  | (ExactNumber & FromSource)
  | SourceList
  | SourceObject

/**
 * Says that a value came out of a client's files. For the shared code that reads them, and for what puts a record together
 * from records: `test/contract/seam.test.ts` lists who may.
 */
export function fromSource(value: JsonValue): SourceValue {
  return value as SourceValue
}

/** Says that a file was found on the disk. Its name and its times are source data: some sessions have no other. */
export function fromDisk<T extends { readonly relativePath: string }>(file: T): T & FromSource {
  return file as T & FromSource
}

/** A record that a source keeps in pieces, put together: the names are ours, all values are the source's. */
export function composed(fields: Readonly<Record<string, SourceValue | readonly SourceValue[]>>): SourceObject {
  return fromSource(fields) as SourceObject
}

/** The fields of an object; none where something else stands. */
export function fieldsOf(value: SourceValue | undefined): SourceObject
export function fieldsOf(value: JsonValue | undefined): JsonObject
export function fieldsOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : NO_FIELDS
}

const NO_FIELDS = fromSource({}) as SourceObject
