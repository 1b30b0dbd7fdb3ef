/**
 * A tree of JSON files: which sessions are in it, and the files of each in the order in which they are read. Names and
 * sizes only. What belongs together shows in the names: a message lies in the folder of its session, a part in that of its message.
 */
import type { Issue } from "../../model/report.ts"
import type { SourceFile, SourceUnit } from "../adapter.ts"
import { type Folders, fileOf } from "../shared/folders.ts"
import { stemOf } from "./places.ts"

/** A tree below a root: where its sessions, messages and parts are. */
interface Tree {
  readonly disk: Folders
  /** Folders of session documents. */
  readonly sessions: readonly string[]
  readonly messages: string
  /** Folders of parts whose message was not met yet. They were listed before the messages: a client may be writing. */
  readonly ownerlessParts: Set<string>
  /** The folder of the parts of a message. */
  readonly partsOf: (sessionId: string, messageId: string) => string
  readonly besides: (sessionPlace: string, sessionId: string) => readonly string[]
}

/** `storage` of July 2025 and later. */
export function planTree(disk: Folders, at: string): Generator<SourceUnit | Issue> {
  const storage = at === "" ? "" : `${at}/`
  const tree: Tree = {
    disk,
    sessions: foldersIn(disk, `${storage}session`),
    ownerlessParts: new Set(foldersIn(disk, `${storage}part`)),
    messages: `${storage}message`,
    partsOf: (_, messageId) => `${storage}part/${messageId}`,
    besides: (place, id) => [
      `${storage}project/${place.split("/").at(-2)}.json`,
      `${storage}todo/${id}.json`,
      `${storage}session_diff/${id}.json`,
    ],
  }
  return unitsOf(tree)
}

/** `project/<directory>/storage/session` of the first months. */
export function planFirstTree(disk: Folders, at: string): Generator<SourceUnit | Issue> {
  const tree: Tree = {
    disk,
    sessions: [`${at}/info`],
    ownerlessParts: new Set(foldersIn(disk, `${at}/part`).flatMap((session) => foldersIn(disk, session))),
    messages: `${at}/message`,
    partsOf: (sessionId, messageId) => `${at}/part/${sessionId}/${messageId}`,
    besides: () => [],
  }
  return unitsOf(tree)
}

/** The sessions that a tree would give, without a look at their messages. */
export function sessionIdOf(unit: SourceUnit): string {
  return unit.row?.id ?? stemOf(unit.files[0]?.relativePath ?? "")
}

function* unitsOf(tree: Tree): Generator<SourceUnit | Issue> {
  const { disk } = tree
  const ownerless = new Set(foldersIn(disk, tree.messages))
  for (const folder of tree.sessions) {
    for (const name of documentsIn(disk, folder)) {
      const place = `${folder}/${name}`
      const stem = stemOf(place)
      const messages = [stem, stem.replace(/^ses_/, "")]
        .map((id) => `${tree.messages}/${id}`)
        .find((at) => ownerless.has(at))
      if (messages !== undefined) ownerless.delete(messages)
      yield* unitOf(tree, place, messages, tree.besides(place, stem))
    }
  }
  // Where sessions could not be listed, nobody knows which messages have none.
  if (disk.issues.length > 0) return
  for (const messages of ownerless) {
    const [first] = documentsIn(disk, messages)
    if (first !== undefined) yield* unitOf(tree, undefined, messages, [])
  }
  // A message that was taken back may leave its parts, and nothing says which session they belonged to.
  for (const parts of tree.ownerlessParts) {
    const [file] = documentsIn(disk, parts)
    if (file === undefined) continue
    yield { kind: "orphan_file", severity: "note", file: `${parts}/${file}`, found: "its message no longer exists" }
  }
}

function* unitOf(
  tree: Tree,
  session: string | undefined,
  messages: string | undefined,
  besides: readonly string[],
): Generator<SourceUnit | Issue> {
  const places = [...(session === undefined ? [] : [session]), ...besides.filter((place) => place.includes("project/"))]
  if (messages !== undefined) {
    const sessionId = messages.split("/").at(-1) ?? ""
    for (const name of documentsIn(tree.disk, messages)) {
      const parts = tree.partsOf(sessionId, stemOf(name))
      tree.ownerlessParts.delete(parts)
      // The parts come first: a message is whole when it comes itself.
      places.push(...documentsIn(tree.disk, parts).map((part) => `${parts}/${part}`), `${messages}/${name}`)
    }
  }
  places.push(...besides.filter((place) => !place.includes("project/")))
  const files = places.flatMap((place) => documentAt(tree.disk, place) ?? [])
  const [main] = files
  if (main !== undefined) yield { key: main.relativePath, root: tree.disk.root, files }
}

export function documentAt(disk: Folders, place: string): SourceFile | undefined {
  const stat = disk.stat(place)
  return stat?.isFile() === true ? fileOf(disk.root, place, "document", stat) : undefined
}

export function foldersIn(disk: Folders, place: string): string[] {
  return disk
    .entries(place)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => (place === "" ? name : `${place}/${name}`))
}

/** Ids grow with time, so the order of names is the order of the session. */
export function documentsIn(disk: Folders, place: string): string[] {
  return disk
    .entries(place)
    .filter((entry) => !entry.isDirectory() && entry.name.endsWith(".json"))
    .map(({ name }) => name)
}
