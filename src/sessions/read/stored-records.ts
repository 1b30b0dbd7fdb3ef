/**
 * The records behind messages in the order of storing, for what is counted of all of them and kept beside the store: who
 * knows how far it counted reads on from there.
 */
import { contains, or } from "../../substrate/filter.ts"
import type { MessageRow } from "../tables.ts"
import type { SessionTables } from "../write/write-sessions.ts"

const COLUMNS = ["session_id", "source_agent", "project", "ordinal", "timestamp", "lane"] as const

/** The record of a message as it is stored, with what says whose it is. */
export interface StoredRecord extends Pick<MessageRow, (typeof COLUMNS)[number]> {
  /** JSON, as it is stored. */
  readonly options: string
}

/** How far the messages were read: one that was stored later has a higher row number. */
export interface Reach {
  /** The first row number that was not read. */
  readonly to: number
  /** The message before it. If it is another by now, the table was healed or rewritten. */
  readonly lastKey: string
}

export interface StoredRecords {
  /** Behind the last message. */
  reach(): Promise<Reach>
  /** Whether what was read up to there is still so. */
  isStill(reach: Reach): Promise<boolean>
  /** Between two row numbers, those whose JSON contains one of the texts, in the order of storing. */
  records(range: RecordRange): AsyncIterable<readonly StoredRecord[]>
}

export interface RecordRange {
  readonly from: number
  readonly to: number
  readonly texts: readonly string[]
}

const EMPTY: Reach = { to: 0, lastKey: "" }

export function openStoredRecords({ messages }: Pick<SessionTables, "messages">): StoredRecords {
  const keyAt = async (row: number) => {
    const [found] = await messages.takeByNumber([row], ["session_id", "id"])
    return found === undefined ? undefined : JSON.stringify([found.session_id, found.id])
  }
  return {
    reach: async () => {
      const to = await messages.nextRowNumber()
      if (to === 0) return EMPTY
      return { to, lastKey: (await keyAt(to - 1)) ?? "" }
    },
    isStill: async ({ to, lastKey }) =>
      to === 0 || (to <= (await messages.nextRowNumber()) && (await keyAt(to - 1)) === lastKey),
    records: async function* ({ from, to, texts }) {
      if (from >= to) return
      const where = or(...texts.map((text) => contains("options", text)))
      for await (const found of messages.scanByNumber({ from, to, columns: COLUMNS, text: "options", where })) {
        const { rows, numbers, text } = found
        const order = numbers.map((number, at) => [number, at] as const).sort(([left], [right]) => left - right)
        yield order.flatMap(([, at]) => {
          const [row, options] = [rows[at], text.at(at)]
          return row === undefined || options === null ? [] : { ...row, options }
        })
      }
    },
  }
}
