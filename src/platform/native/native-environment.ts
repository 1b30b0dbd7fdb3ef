/**
 * Sets environment variables that native libraries read when they are loaded. The runtime keeps its own copy of the
 * environment; the libraries read the one of the C library, so the variables are set there, before the load.
 */
import { processEnvironment } from "../host/environment.ts"
import type { LogLevel } from "../host/log.ts"
import { lazy } from "../lazy.ts"
import { libcPath } from "./libc.ts"

/** A value that the user set takes precedence. Does nothing where pond does not know the C library. */
export function setNativeVariable(name: string, value: string): void {
  if (processEnvironment()[name] === undefined) overrideNativeVariable(name, value)
}

/** Changes what native libraries see. Programs that pond starts still get the user's value. */
export function overrideNativeVariable(name: string, value: string): void {
  setenv()?.(Buffer.from(`${name}\0`), Buffer.from(`${value}\0`), 1)
}

const NO_PROXY = ["NO_PROXY", "no_proxy"] as const

/** Native libraries that the user sends through a proxy reach this host without it, besides those that the user excepts. */
export function keepOffProxies(host: string): void {
  const environment = processEnvironment()
  for (const name of NO_PROXY) {
    const excepted = environment[name] ?? NO_PROXY.map((other) => environment[other]).find(Boolean) ?? ""
    overrideNativeVariable(name, excepted === "" ? host : `${excepted},${host}`)
  }
}

const setenv = lazy(() => {
  const libc = libcPath()
  if (libc === undefined) return undefined
  const { dlopen, FFIType } = require("bun:ffi") as typeof import("bun:ffi")
  const text = FFIType.cstring
  return dlopen(libc, { setenv: { args: [text, text, FFIType.int], returns: FFIType.int } }).symbols.setenv
})

const ENGINE_LEVEL: Readonly<Record<LogLevel, string>> = { quiet: "off", warn: "error", info: "error", debug: "warn" }

let isLogLimited = false

/** How much the native store engine logs to stderr. Call it before the engine is loaded; afterwards it has no effect. */
export function limitNativeLog(level: LogLevel): void {
  if (isLogLimited) return
  isLogLimited = true
  setNativeVariable("LANCEDB_LOG", ENGINE_LEVEL[level])
}
