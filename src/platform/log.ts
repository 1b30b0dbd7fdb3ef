/**
 * The log: lines for people on stderr. stdout belongs to results and protocols.
 * Never log a credential, an environment value or the text of a transcript.
 */
export type LogLevel = "quiet" | "warn" | "info" | "debug"

const RANK: Readonly<Record<LogLevel, number>> = { quiet: 0, warn: 1, info: 2, debug: 3 }

export interface Log {
  readonly level: LogLevel
  warn(line: string): void
  info(line: string): void
  debug(line: string): void
}

export function createLog(level: LogLevel, write: (text: string) => void): Log {
  const at = (rank: LogLevel) => (line: string) => {
    if (RANK[level] >= RANK[rank]) write(`${line}\n`)
  }
  return { level, warn: at("warn"), info: at("info"), debug: at("debug") }
}

export const silentLog: Log = createLog("quiet", () => undefined)
