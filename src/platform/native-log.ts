/**
 * How much the native store engine says on stderr. It reads one variable of the C environment when it is loaded, and
 * the runtime keeps its own copy apart from it: it has to be set through libc itself, before the load.
 */
import { processEnvironment } from "./environment.ts"
import { libcPath } from "./libc.ts"
import type { LogLevel } from "./log.ts"

const VARIABLE = "LANCEDB_LOG"

const NATIVE_LEVEL: Readonly<Record<LogLevel, string>> = { quiet: "off", warn: "error", info: "error", debug: "warn" }

let isDone = false

/** To be called before the store engine is loaded; afterwards it has no effect. What the user set himself stands. */
export function limitNativeLog(level: LogLevel): void {
  if (isDone || processEnvironment()[VARIABLE] !== undefined) return
  isDone = true
  const libc = libcPath()
  if (libc === undefined) return
  const { dlopen, FFIType } = require("bun:ffi") as typeof import("bun:ffi")
  const text = FFIType.cstring
  const { symbols } = dlopen(libc, { setenv: { args: [text, text, FFIType.int], returns: FFIType.int } })
  symbols.setenv(Buffer.from(`${VARIABLE}\0`), Buffer.from(`${NATIVE_LEVEL[level]}\0`), 1)
}
