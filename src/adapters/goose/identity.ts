/**
 * What a session of Goose is called in pond. Goose counts the sessions of a day on each machine, so `20261120_1` is on every
 * machine another session. Its time of creation comes behind it, which the client never changes.
 */
import { joined, matchIn, momentOfSqlite, nonEmptyOf, plain, type Sealed } from "../extract.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"

/** An id that is counted. Those of logs have six digits, their time of day, and those that pond gives seven or more. */
const COUNTED = /^\d{8}_\d{1,5}$/

const CLOCK = /T(\d\d):(\d\d):(\d\d)/

/** `row`: of a session. Undefined where it does not say which it is. */
export function datedIdOf(row: SourceValue): Sealed<string> | undefined {
  const id = nonEmptyOf(fieldsOf(row), "id")
  if (id === undefined || !COUNTED.test(plain(id))) return id
  const created = momentOfSqlite(row, "created_at")
  const time = [1, 2, 3].flatMap((group) => (created && matchIn(created, CLOCK, group)) ?? [])
  return time.length === 0 ? undefined : joined([id, joined(time, "")], "-")
}

/** The id that the client itself knows. */
export function clientIdOf(sessionId: string): string {
  return sessionId.replace(/^(\d{8}_\d{1,5})-\d{6}$/, "$1")
}
