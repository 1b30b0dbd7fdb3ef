/**
 * A session goes on in another directory, or on another machine: the strings of its records that are the old directory, or
 * a path below it, become the new one; and so do the names of the client's own folders. Text that merely mentions the
 * directory is what somebody said, and stays.
 */
import type { OutputFile, Relocation } from "../adapters/adapter.ts"
import { type Move as DirectoryMove, FILE_URL, type MovedCount, movedJson } from "../adapters/shared/moved-paths.ts"
import { type JsonObject, parseJson, stringifyJson } from "../model/json.ts"
import type { LineList, NewLines } from "./output-files.ts"

export interface Move extends DirectoryMove {
  /** How the client names a file of the new directory. */
  readonly relativePath: Relocation["relativePath"]
}

export interface Moved {
  readonly files: readonly OutputFile[]
  readonly rewrittenPaths: number
}

export function reroot(files: readonly OutputFile[], move: Move, newLines?: NewLines): Moved {
  const count = { paths: 0 }
  const moved = files.map((file): OutputFile => {
    const relativePath = move.relativePath?.(file.relativePath, move.from, move.to) ?? file.relativePath
    switch (file.form) {
      case "log": {
        const lines: LineList = newLines?.() ?? []
        for (const line of file.lines) lines.push(typeof line === "string" ? movedText(line, move, count) : line)
        return { ...file, relativePath, lines }
      }
      case "document":
        return { ...file, relativePath, text: movedText(file.text, move, count) }
      case "database":
        return {
          ...file,
          relativePath,
          rows: Array.from(file.rows, (row) => ({ ...row, row: movedJson(row.row, move, count) as JsonObject })),
        }
      default:
        return { ...file, relativePath }
    }
  })
  return { files: moved, rewrittenPaths: count.paths }
}

/** Only a line that names the directory is parsed: the others stay as they are. */
function movedText(text: string, move: Move, count: MovedCount): string {
  if (!text.includes(stringifyJson(move.from).slice(1, -1)) && !text.includes(FILE_URL)) return text
  const parsed = parseJson(text)
  if (!parsed.ok) return text
  const before = count.paths
  const moved = movedJson(parsed.value, move, count)
  return count.paths === before ? text : stringifyJson(moved)
}
