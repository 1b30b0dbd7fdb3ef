/** The lines of checksums as text. Each begins with its own checksum, so that a damaged line is taken for nothing else. */

export interface FileChecksum {
  readonly bytes: number
  /** XXH3 of 64 bits, in hexadecimal: see `DiskFiles.checksum`. */
  readonly hash: string
}

/** Rows that one commit has stored, by their numbers. */
export interface StoredRows {
  readonly from: number
  /** The first that is not among them. */
  readonly to: number
  /** The values of the first key column: of most tables the sessions. */
  readonly groups: readonly string[]
  /** Of their content as it was given, see `columns/content-hash.ts`. Rows that may be deleted have none. */
  readonly hash?: string
}

export interface Checksums {
  readonly files: ReadonlyMap<string, FileChecksum>
  readonly rows: readonly StoredRows[]
  /** Rows with lower numbers were read back from their files as they were given. */
  readonly proved: number
  /** Lines that are not as they were written. */
  readonly damagedLines: number
}

/** The engine writes it anew at each commit, and finds the newest version without it too. */
const HINT = "_versions/latest_version_hint.json"

/** Whether a file of a table has a checksum. */
export function isProtected(path: string): boolean {
  return path !== HINT && !path.endsWith(".tmp")
}

export function checksumLines({ files, rows, proved }: Pick<Checksums, "files" | "rows" | "proved">): string[] {
  const proof = proved === 0 ? [] : [provedLine(proved)]
  return [...[...files].map(([each, sum]) => fileLine(each, sum)), ...rows.map(rowsLine), ...proof]
}

export function provedLine(to: number): string {
  return sealed(`proved ${to}`)
}

function fileLine(path: string, { hash, bytes }: FileChecksum): string {
  return sealed(`file ${hash} ${bytes} ${path}`)
}

function rowsLine({ from, to, groups, hash }: StoredRows): string {
  return sealed(`rows ${from} ${to} ${hash === undefined ? "" : `${hash} `}${JSON.stringify(groups)}`)
}

function sealed(content: string): string {
  return `${hexOf(Bun.hash.xxHash3(content))} ${content}\n`
}

function hexOf(hash: bigint): string {
  return hash.toString(16).padStart(16, "0")
}

const LINE =
  /^([0-9a-f]{16}) (?:file ([0-9a-f]{16}) (\d+) (.+)|rows (\d+) (\d+) (?:([0-9a-f]{16}) )?(\[.*\])|proved (\d+))$/

export function parseChecksums(text: string): Checksums {
  const files = new Map<string, FileChecksum>()
  const rows: StoredRows[] = []
  let [damagedLines, proved] = [0, 0]
  for (const line of text.split("\n")) {
    if (line === "") continue
    const [, sum, hash, bytes, path, from, to, content, groups, below] = LINE.exec(line) ?? []
    if (sum === undefined || sum !== hexOf(Bun.hash.xxHash3(line.slice(17)))) damagedLines++
    else if (path !== undefined) files.set(path, { hash: hash as string, bytes: Number(bytes) })
    else if (below !== undefined) proved = Number(below)
    else rows.push({ ...rowsOfLine(from, to, groups), ...(content === undefined ? {} : { hash: content }) })
  }
  return { files, rows, proved, damagedLines }
}

function rowsOfLine(from = "0", to = "0", groups = "[]"): StoredRows {
  return { from: Number(from), to: Number(to), groups: JSON.parse(groups) as string[] }
}
