/** How much the native store engine says on stderr. */
import type { LogLevel } from "../host/log.ts"
import { setNativeVariable } from "./native-environment.ts"

const NATIVE_LEVEL: Readonly<Record<LogLevel, string>> = { quiet: "off", warn: "error", info: "error", debug: "warn" }

let isDone = false

/** To be called before the store engine is loaded; afterwards it has no effect. */
export function limitNativeLog(level: LogLevel): void {
  if (isDone) return
  isDone = true
  setNativeVariable("LANCEDB_LOG", NATIVE_LEVEL[level])
}
