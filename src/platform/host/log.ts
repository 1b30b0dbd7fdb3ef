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

/** `write` gets the line with its line feed, and how grave it is. */
export function createLog(level: LogLevel, write: (text: string, gravity: LogLevel) => void): Log {
  const at = (gravity: LogLevel) => (line: string) => {
    if (RANK[level] >= RANK[gravity]) write(`${line}\n`, gravity)
  }
  return { level, warn: at("warn"), info: at("info"), debug: at("debug") }
}

export const silentLog: Log = createLog("quiet", () => undefined)
