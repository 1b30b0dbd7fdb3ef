/**
 * A tree of JSON files: which sessions are in it, and the files of each in the order in which they are read. Names and
 * sizes only. What belongs together shows in the names: a message lies in the folder of its session, a part in that of its message.
 */
import { type Dirent, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { SourceFile, SourceUnit } from "../adapter.ts"
import { fileOf } from "../shared/walk.ts"
import { stemOf } from "./places.ts"

/** A tree below a root: where its sessions, messages and parts are. */
interface Tree {
  readonly root: string
  /** Folders of session documents. */
  readonly sessions: readonly string[]
  readonly messages: string
  /** The folder of the parts of a message. */
  readonly partsOf: (sessionId: string, messageId: string) => string
  readonly besides: (sessionPlace: string, sessionId: string) => readonly string[]
}

/** `storage` of July 2025 and later. */
export function planTree(root: string, at: string): Generator<SourceUnit | Issue> {
  const storage = at === "" ? "" : `${at}/`
  const tree: Tree = {
    root,
    sessions: foldersIn(root, `${storage}session`),
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
export function planFirstTree(root: string, at: string): Generator<SourceUnit | Issue> {
  const tree: Tree = {
    root,
    sessions: [`${at}/info`],
    messages: `${at}/message`,
    partsOf: (sessionId, messageId) => `${at}/part/${sessionId}/${messageId}`,
    besides: () => [],
  }
  return unitsOf(tree)
}

/** The sessions that a tree would give, without a look at their messages. */
export function sessionIdOf(unit: SourceUnit): string {
  return unit.row?.id ?? stemOf(unit.files[0]?.place ?? "")
}

function* unitsOf(tree: Tree): Generator<SourceUnit | Issue> {
  const { root } = tree
  const ownerless = new Set(foldersIn(root, tree.messages))
  for (const folder of tree.sessions) {
    for (const name of documentsIn(root, folder)) {
      const place = `${folder}/${name}`
      const stem = stemOf(place)
      const messages = [stem, stem.replace(/^ses_/, "")]
        .map((id) => `${tree.messages}/${id}`)
        .find((at) => ownerless.has(at))
      if (messages !== undefined) ownerless.delete(messages)
      yield* unitOf(tree, place, messages, tree.besides(place, stem))
    }
  }
  for (const messages of ownerless) {
    const [first] = documentsIn(root, messages)
    if (first !== undefined) yield* unitOf(tree, undefined, messages, [])
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
    for (const name of documentsIn(tree.root, messages)) {
      const parts = tree.partsOf(sessionId, stemOf(name))
      // The parts come first: a message is whole when it comes itself.
      places.push(...documentsIn(tree.root, parts).map((part) => `${parts}/${part}`), `${messages}/${name}`)
    }
  }
  places.push(...besides.filter((place) => !place.includes("project/")))
  const files = places.flatMap((place) => documentAt(tree.root, place) ?? [])
  const [main] = files
  if (main !== undefined) yield { key: main.place, root: tree.root, files }
}

export function documentAt(root: string, place: string): SourceFile | undefined {
  const stat = statSync(join(root, place), { throwIfNoEntry: false })
  return stat?.isFile() === true ? fileOf(root, place, "document", stat) : undefined
}

export function entriesIn(root: string, place: string): Dirent[] {
  try {
    const entries = readdirSync(join(root, place), { withFileTypes: true })
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1))
  } catch (error) {
    if (error instanceof Error && "code" in error) return []
    throw error
  }
}

export function foldersIn(root: string, place: string): string[] {
  return entriesIn(root, place)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => (place === "" ? name : `${place}/${name}`))
}

/** Ids grow with time, so the order of names is the order of the session. */
export function documentsIn(root: string, place: string): string[] {
  return entriesIn(root, place)
    .filter((entry) => !entry.isDirectory() && entry.name.endsWith(".json"))
    .map(({ name }) => name)
}
