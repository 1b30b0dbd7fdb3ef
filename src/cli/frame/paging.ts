/** Text for a reader on a terminal: written as it is while it fits on the screen, and through the pager once it does not. */
import type { Pager } from "../../platform/process/pager.ts"
import type { TextSink } from "../../platform/process/streams.ts"

export interface PagedParts {
  readonly out: TextSink
  /** Opened when the screen is full; nothing where the user wants none. */
  readonly openPager: () => Pager | undefined
}

const ROWS_UNKNOWN = 24
const COLUMNS_UNKNOWN = 80

export async function showPaged(chunks: AsyncIterable<string>, { out, openPager }: PagedParts): Promise<void> {
  const { rows = ROWS_UNKNOWN, columns = COLUMNS_UNKNOWN } = out
  let held = ""
  let pager: Pager | undefined
  let isDirect = !out.isTerminal
  try {
    for await (const chunk of chunks) {
      held += chunk
      const isFull = pager !== undefined || isDirect || screenLines(held, columns) >= rows
      if (!isFull) continue
      if (pager === undefined && !isDirect) {
        pager = openPager()
        isDirect = pager === undefined
      }
      const text = held
      held = ""
      if (pager === undefined) out.write(text)
      else if (!(await pager.write(text))) break
    }
    if (pager === undefined) out.write(held)
  } finally {
    await pager?.end()
  }
}

function screenLines(text: string, columns: number): number {
  let lines = 0
  for (const line of text.split("\n")) lines += Math.max(1, Math.ceil(Bun.stringWidth(line) / columns))
  return lines
}
