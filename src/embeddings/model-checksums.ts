/**
 * The SHA-256 of every file of a downloaded model, as it arrived the first time. Nobody publishes checksums for the five
 * models that fastembed hosts, so the first download is trusted and a later one must be equal to it. They are kept in the
 * state directory: whoever empties the cache downloads again, and gets the same or is told.
 *
 * A model is proved whenever it is loaded. Hashing 2 GB takes seconds, so a file that has the size, the times and the
 * inode which it had when it was hashed is taken for the same; `ctime` cannot be set by a program.
 */
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { PondError } from "../model/errors.ts"
import { isJsonObject, parseJson } from "../model/json.ts"
import { bytesOfFile, replaceFile } from "../platform/files/replace-file.ts"
import { shownCommand } from "../platform/process/shell-word.ts"

export interface FileChecksum {
  /** In the directory of the model. */
  readonly to: string
  readonly sha256: string
}

export interface ModelPlace {
  readonly name: string
  readonly directory: string
  readonly stateDirectory: string
}

/** Written last into the directory of a model: one that has it is whole. */
export const RECORD = "pond-model.json"

export type ModelProof =
  | { readonly state: "unchanged" }
  /** Downloaded by a pond that recorded no checksums. */
  | { readonly state: "unknown" }
  | { readonly state: "changed"; readonly file: string; readonly expected: string; readonly found: string }

/** Remembers what arrived. `isTrusted` where the registry knows the checksums; otherwise an earlier arrival binds. */
export function recordArrival(place: ModelPlace, files: readonly FileChecksum[], isTrusted: boolean): void {
  const path = checksumsPath(place.stateDirectory)
  const first = isTrusted ? undefined : readAll(path)[place.name]?.files
  const other = first?.find(({ to, sha256 }) => files.find((file) => file.to === to)?.sha256 !== sha256)
  if (other !== undefined) throw arrivedOtherwise(place.name, other, path)
  save(place, { files, proved: {} })
}

/** `isThorough` hashes every file, also those that look untouched. */
export async function proveModel(place: ModelPlace, isThorough = false): Promise<ModelProof> {
  const known = readAll(checksumsPath(place.stateDirectory))[place.name] ?? recordBeside(place.directory)
  if (known === undefined) return { state: "unknown" }
  const proved: Record<string, string> = {}
  for (const { to, sha256 } of known.files) {
    const path = join(place.directory, to)
    const stamp = statNote(path)
    if (isThorough || stamp === undefined || known.proved[to] !== stamp) {
      const found = stamp === undefined ? "missing" : await sha256OfFile(path)
      if (found !== sha256) return { state: "changed", file: to, expected: sha256, found }
    }
    proved[to] = stamp ?? ""
  }
  const isNews = known.files.some(({ to }) => known.proved[to] !== proved[to])
  if (isNews) save(place, { files: known.files, proved })
  return { state: "unchanged" }
}

/** Throws where a file is not what was downloaded. */
export async function requireUnchanged(place: ModelPlace): Promise<void> {
  const proof = await proveModel(place)
  if (proof.state !== "changed") return
  const { file, expected, found } = proof
  throw new PondError(
    "validation_failed",
    `${join(place.directory, file)} is not the file that was downloaded: its SHA-256 is ${found} and was ${expected}. Delete ${place.directory} and run \`${shownCommand(["pond", "embeddings", "use", place.name])}\`, which downloads the model again.`,
    { details: { model: place.name, file, expected, found } },
  )
}

export async function sha256OfFile(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256")
  for await (const piece of Bun.file(path).stream()) hash.update(piece)
  return hash.digest("hex")
}

function arrivedOtherwise(name: string, { to, sha256 }: FileChecksum, path: string): PondError {
  return new PondError(
    "validation_failed",
    `The model ${name} is not the one that was downloaded first: ${to} had the SHA-256 ${sha256}. The download was deleted. If its publisher has a new version and you trust it, remove "${name}" from ${path} and run the command again.`,
    { details: { model: name, file: to, expected: sha256 } },
  )
}

// --- The file --------------------------------------------------------------------------------------------------------

interface Known {
  readonly files: readonly FileChecksum[]
  /** By file: its size, times and inode when it was last hashed. */
  readonly proved: Readonly<Record<string, string>>
}

function checksumsPath(stateDirectory: string): string {
  return join(stateDirectory, "model-checksums.json")
}

function readAll(path: string): Readonly<Record<string, Known>> {
  const parsed = parseJson(Buffer.from(bytesOfFile(path) ?? "{}").toString())
  return parsed.ok && isJsonObject(parsed.value) ? (parsed.value as unknown as Record<string, Known>) : {}
}

/** What the directory itself says: it was downloaded before the checksums were kept apart, or on another machine. */
function recordBeside(directory: string): Known | undefined {
  const path = join(directory, RECORD)
  const parsed = existsSync(path) ? parseJson(readFileSync(path, "utf8")) : undefined
  if (parsed?.ok !== true || !isJsonObject(parsed.value) || !Array.isArray(parsed.value["files"])) return undefined
  return { files: parsed.value["files"] as unknown as readonly FileChecksum[], proved: {} }
}

function save({ name, stateDirectory }: ModelPlace, known: Known): void {
  const path = checksumsPath(stateDirectory)
  const text = `${JSON.stringify({ ...readAll(path), [name]: known }, null, 2)}\n`
  replaceFile({ path, from: bytesOfFile(path), text, keepsBackup: false })
}

function statNote(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (found === undefined) return undefined
  const { size, mtimeNs, ctimeNs, ino } = found
  return [size, mtimeNs, ctimeNs, ino].join(" ")
}
