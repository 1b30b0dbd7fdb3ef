/** Several sessions may lie in one file: a database, an index of titles. Their pieces become one file each. */
import type { OutputFile } from "../adapters/adapter.ts"
import { stringifyJson } from "../model/json.ts"

export function mergeFiles(files: readonly OutputFile[]): OutputFile[] {
  const byPlace = new Map<string, OutputFile>()
  for (const file of files) {
    const before = byPlace.get(file.relativePath)
    byPlace.set(file.relativePath, before === undefined ? file : merged(before, file))
  }
  return [...byPlace.values()]
}

function merged(left: OutputFile, right: OutputFile): OutputFile {
  if (left.form === "database" && right.form === "database") {
    const rows = new Map([...left.rows, ...right.rows].map((row) => [`${row.table} ${stringifyJson(row.row)}`, row]))
    return { ...left, rows: [...rows.values()] }
  }
  if (left.form === "log" && right.form === "log" && left.isShared === true) {
    return {
      ...left,
      lines: [...new Map([...left.lines, ...right.lines].map((line) => [String(line), line])).values()],
    }
  }
  return right
}
