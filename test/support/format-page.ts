/** Reads the tables of a page that describes a format, so that tests follow the page itself. */

export interface PageTable {
  /** The heading above it. */
  readonly title: string
  /** By the names of the columns in its head. */
  readonly rows: readonly Readonly<Record<string, string>>[]
}

export function pageTables(page: string): PageTable[] {
  const tables: PageTable[] = []
  for (const section of page.split(/^#+ /m)) {
    const title = section.slice(0, section.indexOf("\n"))
    const lines = section.split("\n").filter((line) => line.startsWith("|"))
    const [head = [], , ...rows] = lines.map(cellsOf)
    if (rows.length > 0)
      tables.push({
        title,
        rows: rows.map((cells) => Object.fromEntries(head.map((name, at) => [name, cells[at] ?? ""]))),
      })
  }
  return tables
}

function cellsOf(line: string): string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"))
}
