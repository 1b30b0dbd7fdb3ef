#!/usr/bin/env bun
/** Argv in, exit code out. `--version` alone is answered here, before anything else is loaded. */
import { VERSION } from "./platform/host/version.ts"
import { compileLate } from "./platform/jit.ts"
import { UNPACK_NATIVE } from "./platform/native/unpack-argument.ts"
import { LIMITED_TASK } from "./platform/process/limited-task.ts"

compileLate()

const argv = process.argv.slice(2)
if (argv.length === 1 && argv[0] === "--version") {
  process.stdout.write(`pond ${VERSION}\n`)
} else if (argv[0] === UNPACK_NATIVE) {
  const { unpackNative } = await import("./platform/native/native.ts")
  unpackNative(argv[1])
} else if (argv[0] === LIMITED_TASK && argv[1] === "archive") {
  const { serveValidation } = await import("./archive/validate/validate-process.ts")
  serveValidation((code) => process.exit(code))
} else if (argv[0] === LIMITED_TASK) {
  const { serveQuery } = await import("./operations/sql/engine/engine.ts")
  serveQuery((code) => process.exit(code))
} else {
  const { runPond } = await import("./pond.ts")
  process.exit(await runPond(argv))
}
