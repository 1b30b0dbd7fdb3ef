/**
 * Where aider keeps what was said: in the directory that it worked in, in Markdown, all runs in one file. Beside it lie what was
 * typed and, where it was asked to, what the model was sent: both are cut at the times at which sessions begin. Each session
 * is a stretch of a file, so files are read to plan them. Keys and settings lie there too, under other names.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import { errorCode } from "../../platform/system-error.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { type Folders, foldersBelow } from "../shared/folders.ts"
import { STARTED, type Stretch, sessionsIn } from "./history.ts"
import { CHAT_ALONE, isIn, roots } from "./roots.ts"

export const source: Source = { roots, plan, isIn }

const CHAT = /^\.aider\.chat\.history(?:\.[\w-]{1,80})?\.md$/
/** Each with how the moment of an entry is written. */
const BESIDE = [
  { name: ".aider.input.history", entry: /^# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)/gm, before: 1 },
  { name: ".aider.llm.history", entry: /^TO LLM (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)/gm, before: 0 },
] as const

export function concerns(_root: string, place: string): boolean {
  return !place.includes("/") && place.startsWith(".aider.")
}

/** A directory that has a history, or one that holds such directories. Paths are those below the directory of the history. */
function* plan(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  const own = [...historiesIn(disk, "")]
  yield* own
  yield* disk.issues
  if (own.length > 0) return
  for (const { name } of disk.entries("").filter((each) => each.isDirectory() && !each.name.startsWith(".")))
    yield* historiesIn(foldersBelow(join(root, name)), `${name}/`)
}

function* historiesIn(disk: Folders, before: string): Generator<SourceUnit | Issue> {
  const names = new Set(disk.entries("").map(({ name }) => name))
  for (const name of names) {
    const file = CHAT.test(name) ? disk.file(name, "text") : undefined
    if (file === undefined) continue
    const beside = BESIDE.flatMap((each) => {
      const found = name === CHAT_ALONE && names.has(each.name) ? disk.file(each.name, "text") : undefined
      return found === undefined ? [] : [{ ...each, file: found }]
    })
    try {
      const units = unitsOf(disk.root, file, beside)
      for (const unit of units) yield { ...unit, key: `${before}${unit.key}` }
      if (units.length === 0)
        yield {
          kind: "no_session",
          severity: "note",
          file: `${before}${name}`,
          found: "a history in which nobody said anything",
        }
    } catch (error) {
      const found = errorCode(error)
      if (found === undefined) throw error
      yield { kind: "unreadable_file", severity: "fault", file: `${before}${name}`, found }
    }
  }
}

type Beside = (typeof BESIDE)[number] & { readonly file: SourceFile }

/** Bytes as Latin-1: an offset into such a text is one into the file, and every mark is ASCII. */
function bytesAsText(path: string): string {
  return readFileSync(path).toString("latin1")
}

function unitsOf(root: string, file: SourceFile, beside: readonly Beside[]): SourceUnit[] {
  const text = bytesAsText(file.path)
  const sessions = sessionsIn(text)
  const begun = sessions.map(({ from, to }) => STARTED.exec(text.slice(from, to))?.[1] ?? "")
  const others = beside.map((each) => ({
    file: each.file,
    stretches: stretchesOf(bytesAsText(each.file.path), each, begun),
  }))
  return sessions.map(({ from, to }, at) => {
    const endedMs = Date.parse(`${(begun[at + 1] ?? "").replace(" ", "T")}Z`)
    const files = others.flatMap((other) => {
      const own = other.stretches[at]
      return own === undefined || own.from === own.to ? [] : [pieceOf(other.file, own, own.text, endedMs)]
    })
    const key = `${file.relativePath}#${at + 1}`
    return { key, root, files: [pieceOf(file, { from, to }, text.slice(from, to), endedMs), ...files] }
  })
}

/** What lies before the first session is of that one. */
function stretchesOf(
  text: string,
  { entry, before }: Beside,
  begun: readonly string[],
): (Stretch & { text: string })[] {
  const entries = [...text.matchAll(entry)].map(({ index, 1: moment = "" }) => ({
    at: Math.max(0, index - (text[index - 1] === "\n" ? before : 0)),
    moment: moment.replace("T", " "),
  }))
  const starts = begun.map((moment, at) =>
    at === 0 ? 0 : (entries.find((each) => each.moment >= moment)?.at ?? text.length),
  )
  return starts.map((from, at) => {
    const to = Math.max(from, starts[at + 1] ?? text.length)
    return { from, to, text: text.slice(from, to) }
  })
}

/** Many lie in one file: a hash tells that one of them changed, and what was said before the next one began is older than it. */
function pieceOf(file: SourceFile, inside: Stretch, text: string, endedMs: number): SourceFile {
  const { changedMs: _, ...known } = file
  const isWhole = inside.from === 0 && inside.to === file.sizeBytes
  return {
    ...known,
    sizeBytes: inside.to - inside.from,
    modifiedMs: Number.isNaN(endedMs) ? file.modifiedMs : Math.min(file.modifiedMs, endedMs),
    inode: Number(Bun.hash.xxHash64(text) & 0x1fffffffffffffn),
    ...(isWhole ? {} : { inside }),
  }
}
