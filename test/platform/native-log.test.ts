import { expect, test } from "bun:test"
import { join } from "node:path"

const MODULE = JSON.stringify(join(import.meta.dir, "../../src/platform/native/native-environment.ts"))

/** Limits the log in a separate process, and asks libc, as the engine does, what the variable says there. */
function engineLevel(level: string, environment: Record<string, string> = {}): string {
  const script = `
    import { CString, dlopen } from "bun:ffi"
    import { readFileSync } from "node:fs"
    import { limitNativeLog } from ${MODULE}
    limitNativeLog(${JSON.stringify(level)})
    const libc = process.platform === "darwin" ? "/usr/lib/libSystem.B.dylib"
      : /\\/\\S*\\/(?:libc\\.so\\.6|ld-musl-\\S+)$/m.exec(readFileSync("/proc/self/maps", "utf8"))[0]
    const { symbols } = dlopen(libc, { getenv: { args: ["cstring"], returns: "ptr" } })
    const found = symbols.getenv(Buffer.from("LANCEDB_LOG\\0"))
    process.stdout.write(found === null ? "unset" : String(new CString(found)))`
  const env = { HOME: "/nowhere", ...environment }
  const ended = Bun.spawnSync([process.execPath, "-e", script], { env })
  return ended.stdout.toString() + ended.stderr.toString()
}

test.each([
  ["quiet", "off"],
  ["warn", "error"],
  ["info", "error"],
  ["debug", "warn"],
])("at the level %s the engine says what is at least: %s", (level, says) => {
  expect(engineLevel(level)).toBe(says)
})

test("what the user asked the engine for stands", () => {
  expect(engineLevel("quiet", { LANCEDB_LOG: "trace" })).toBe("trace")
})
