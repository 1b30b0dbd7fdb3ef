/**
 * Where the sessions of an account lie that its owner exported: a zip, the folder that it was unpacked to, or one file of it. A
 * file is an array with a session in each element; each is a separate unit. Pictures and other files that a session names
 * lie beside, and are read with it. Hostile zips: names are looked up, and never become paths (`platform/files/zip.ts`).
 */
import { createReadStream, type Stats, statSync } from "node:fs"
import { basename, dirname } from "node:path"
import { isJsonObject, type JsonObject, parseJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { isZip, memberBytes, ZipFault, type ZipMember, zipMembers } from "../../platform/files/zip.ts"
import { errorCode } from "../../platform/system-error.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { type ArrayElement, arrayElements, ELEMENT_BYTES_MAX } from "./array-elements.ts"
import { fileOf } from "./folders.ts"
import { filesBelow, isIssue } from "./walk.ts"

export interface ExportShape {
  /** The names of the files that hold sessions, without their folders. */
  readonly names: RegExp
  /** The id of an element that is a session of this product. Others have exports with files of the same names. */
  readonly idOf: (element: JsonObject) => string | undefined
  /** Whether an element is a session of another product, of which nothing is said. */
  readonly isOther: (element: JsonObject) => boolean
  /** Records of something else stand between the sessions: they are left out, and counted. */
  readonly isMixed?: true
  /** The ids of files that a session names, in its text. Absent where an export has none. */
  readonly assets?: RegExp
}

/** The folder in which a restore writes sessions, each in a separate file. */
const FOLDER = "conversations"
/** An id becomes the name of a file: see `OutputForms`. */
const PLAIN_ID = /^[\da-zA-Z][\w-]{0,99}$/
const RESTORED = /^[\da-zA-Z][\w-]{0,99}(?:\.\d{1,3})?\.json$/
const DEPTH_MAX = 6
const ASSETS_MAX = 200

export function exportSource(shape: ExportShape): Source {
  return { roots: () => [], plan: (root) => plan(root, shape) }
}

/** A file that is there, or a member of a zip. */
interface Holder {
  readonly place: string
  readonly path: string
  readonly stat: Stats
  readonly member: ZipMember | undefined
}

async function* plan(root: string, shape: ExportShape): AsyncGenerator<SourceUnit | Issue> {
  const issues: Issue[] = []
  const holders = holdersIn(root, shape, issues)
  yield* issues
  const assets = shape.assets === undefined ? new Map<string, Holder>() : assetsIn(holders, shape.assets)
  const own = holders.filter(({ place }) => holdsSessions(place, shape)).toSorted(byNumber)
  const met = new Map<string, number>()
  for (const holder of own) {
    try {
      yield* planHolder(holder, { root, shape, assets, met })
    } catch (error) {
      const found = error instanceof ZipFault ? error.message : errorCode(error)
      if (found === undefined) throw error
      yield { kind: "unreadable_file", severity: "fault", file: holder.place, found }
    }
  }
}

function holdsSessions(place: string, { names }: ExportShape): boolean {
  return names.test(basename(place)) || (basename(dirname(place)) === FOLDER && RESTORED.test(basename(place)))
}

function byNumber(left: Holder, right: Holder): number {
  return left.place.localeCompare(right.place, "en", { numeric: true })
}

interface Planning {
  readonly root: string
  readonly shape: ExportShape
  readonly assets: ReadonlyMap<string, Holder>
  /** How often each id was met: a file may be there twice. */
  readonly met: Map<string, number>
}

async function* planHolder(holder: Holder, planning: Planning): AsyncGenerator<SourceUnit | Issue> {
  const { place, path, member } = holder
  const issue = (found: string): Issue => ({ kind: "unreadable_file", severity: "fault", file: place, found })
  const pieces = member === undefined ? createReadStream(path, { highWaterMark: 1 << 20 }) : memberBytes(path, member)
  const elements = arrayElements(pieces)
  const counts = { all: 0, own: 0, others: 0 }
  for (let next = await elements.next(); ; next = await elements.next()) {
    if (next.done) {
      yield* closing(holder, next.value.isWhole, counts)
      return
    }
    counts.all++
    const read = readElement(next.value, planning.shape)
    if (read === OTHER) {
      if (planning.shape.isMixed !== true) return
      counts.others++
    } else if (typeof read === "string") yield { ...issue(read), record: counts.all }
    else {
      counts.own++
      yield elementUnit(holder, next.value, read, planning)
    }
  }
}

interface ElementCounts {
  readonly all: number
  readonly own: number
  readonly others: number
}

function* closing({ place: file }: Holder, isWhole: boolean, { all, own, others }: ElementCounts): Generator<Issue> {
  if (!isWhole && (own > 0 || all === 0))
    yield { kind: "unreadable_file", severity: "fault", file, found: "it ends in the middle of a session" }
  if (own > 0 && others > 0)
    yield { kind: "unknown_record", severity: "note", file, found: `${others} records of something else` }
}

/** The files of another product have the same names. */
const OTHER = Symbol("another product")

interface ReadElement {
  readonly id: string
  readonly text: string
}

function readElement({ bytes }: ArrayElement, { idOf, isOther }: ExportShape): ReadElement | string | typeof OTHER {
  if (bytes === undefined) return `a session of more than ${ELEMENT_BYTES_MAX} bytes`
  const text = Buffer.from(bytes).toString("utf8")
  const parsed = parseJson(text)
  if (!parsed.ok) return "a session that is not JSON"
  const element = isJsonObject(parsed.value) ? parsed.value : {}
  const id = idOf(element)
  if (id !== undefined && PLAIN_ID.test(id)) return { id, text }
  return isOther(element) ? OTHER : "a session without an id"
}

function elementUnit(
  holder: Holder,
  { from, to }: ArrayElement,
  { id, text }: ReadElement,
  planning: Planning,
): SourceUnit {
  const { root, shape, assets, met } = planning
  const times = (met.get(id) ?? 0) + 1
  met.set(id, times)
  const place = `${FOLDER}/${id}${times === 1 ? "" : `.${times}`}.json`
  const document = fileInside(root, place, holder, { from, to }, text)
  const named = shape.assets === undefined ? [] : (text.match(shape.assets) ?? [])
  const found = [...new Set(named)].flatMap((name) => assets.get(name) ?? []).slice(0, ASSETS_MAX)
  const beside = [...new Set(found)].map((asset): SourceFile => {
    const bytes = asset.member?.bytes ?? asset.stat.size
    return fileInside(root, `assets/${basename(asset.place)}`, asset, { from: 0, to: bytes })
  })
  return { key: place, root, files: [document, ...beside] }
}

/** Many lie in one file. What tells that one of them changed is a hash of its text, in the place of the number of a file. */
function fileInside(
  root: string,
  place: string,
  { path, stat, member }: Holder,
  { from, to }: { readonly from: number; readonly to: number },
  text?: string,
): SourceFile {
  const { changedMs: _, ...file } = fileOf(root, place, text === undefined ? "bytes" : "document", stat)
  const inode = text === undefined ? stat.ino : Number(Bun.hash.xxHash64(text) & 0x1fffffffffffffn)
  const isWhole = member === undefined && from === 0 && to === stat.size
  return { ...file, path, sizeBytes: to - from, inode, ...(isWhole ? {} : { inside: { member, from, to } }) }
}

// --- What lies there ------------------------------------------------------------------------------------------------------

function holdersIn(root: string, shape: ExportShape, issues: Issue[]): Holder[] {
  const stat = statSync(root, { throwIfNoEntry: false })
  if (stat?.isFile() === true) return holdersOf(basename(root), { path: root, stat, shape, issues })
  // Of zips deeper down nobody said that they are exports.
  const accepts = (place: string) =>
    holdsSessions(place, shape) || isAsset(place, shape) || /^[^./][^/]*\.zip$/.test(place)
  const found = filesBelow(root, { form: "bytes", depthMax: DEPTH_MAX, accepts })
  return found.flatMap((file) => {
    if (isIssue(file)) issues.push(file)
    const of = isIssue(file) ? undefined : statSync(file.path, { throwIfNoEntry: false })
    return isIssue(file) || of === undefined
      ? []
      : holdersOf(file.relativePath, { path: file.path, stat: of, shape, issues })
  })
}

function isAsset(place: string, { assets }: ExportShape): boolean {
  return assets !== undefined && assetId(basename(place), assets) !== undefined
}

interface Looking {
  readonly path: string
  readonly stat: Stats
  readonly shape: ExportShape
  readonly issues: Issue[]
}

function holdersOf(place: string, { path, stat, shape, issues }: Looking): Holder[] {
  if (!place.endsWith(".zip")) return [{ place, path, stat, member: undefined }]
  try {
    if (!isZip(path)) throw new ZipFault("no zip")
    const members = zipMembers(path)
    // It may be any zip. Or damage has changed a name in its directory, and a whole export would be passed over in silence.
    if (!members.some(({ name }) => holdsSessions(name, shape) || isAsset(name, shape)))
      issues.push({ kind: "unread_name", severity: "note", file: place, found: "a zip in which no sessions are named" })
    return members.map((member) => ({ place: member.name, path, stat, member }))
  } catch (error) {
    const found = error instanceof ZipFault ? error.message : errorCode(error)
    if (found === undefined) throw error
    issues.push({ kind: "unreadable_file", severity: "fault", file: place, found })
    return []
  }
}

/** By the ids that begin their names. */
function assetsIn(holders: readonly Holder[], ids: RegExp): ReadonlyMap<string, Holder> {
  const assets = new Map<string, Holder>()
  for (const holder of holders) {
    const id = assetId(basename(holder.place), ids)
    if (id !== undefined && !assets.has(id)) assets.set(id, holder)
  }
  return assets
}

function assetId(name: string, ids: RegExp): string | undefined {
  const [id] = ASSET_NAME.test(name) ? (name.match(ids) ?? []) : []
  return id !== undefined && name.startsWith(id) ? id : undefined
}

const ASSET_NAME = /^\w[\w.-]{0,200}$/
