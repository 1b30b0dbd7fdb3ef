/**
 * Variables that native libraries read when they are loaded. The runtime keeps a copy of the environment apart from the
 * one of the C library, which they look into: there they have to be set, before the load.
 */
import { processEnvironment } from "../host/environment.ts"
import { lazy } from "../lazy.ts"
import { libcPath } from "./libc.ts"

/** What the user set himself stands. Does nothing where there is no C library that pond knows. */
export function setNativeVariable(name: string, value: string): void {
  if (processEnvironment()[name] === undefined) overrideNativeVariable(name, value)
}

/** For native libraries alone: programs that pond starts get what the user set. */
export function overrideNativeVariable(name: string, value: string): void {
  setenv()?.(Buffer.from(`${name}\0`), Buffer.from(`${value}\0`), 1)
}

const setenv = lazy(() => {
  const libc = libcPath()
  if (libc === undefined) return undefined
  const { dlopen, FFIType } = require("bun:ffi") as typeof import("bun:ffi")
  const text = FFIType.cstring
  return dlopen(libc, { setenv: { args: [text, text, FFIType.int], returns: FFIType.int } }).symbols.setenv
})
