/** Logs of pi to verify, and a pi that writes something else than it read. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Adapter, OutputFile } from "../../src/adapters/adapter.ts"
import { pi } from "../../src/adapters/pi/adapter.ts"
import { wholeSession } from "../../src/adapters/shared/native.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { nativeFiles } from "../../src/restore/output-files.ts"
import { type SourceVerification, type VerifyRequest, verify } from "../../src/restore/verify.ts"

export const scratch = mkdtempSync(join(tmpdir(), "pond-verify-"))
// When the process ends and not after a test file: several of them share this module.
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }))

export const HEADER = { type: "session", version: 3, id: "s1", timestamp: "2026-03-01T10:00:00.000Z", cwd: "/work" }
export const USER = {
  ...{ type: "message", id: "m1", parentId: null, timestamp: "2026-03-01T10:00:01.000Z" },
  message: { role: "user", content: [{ type: "text", text: "Fix the build." }], timestamp: 1 },
}

let count = 0
export function rootOf(files: Readonly<Record<string, readonly unknown[] | string>>): string {
  const root = join(scratch, String(count++))
  mkdirSync(root)
  for (const [place, content] of Object.entries(files)) {
    const text = typeof content === "string" ? content : content.map((line) => `${JSON.stringify(line)}\n`).join("")
    mkdirSync(dirname(join(root, place)), { recursive: true })
    writeFileSync(join(root, place), text)
  }
  return root
}

export async function verified(
  root: string,
  adapter: Adapter = pi,
  request: Partial<VerifyRequest> = {},
): Promise<SourceVerification> {
  const context = { clock: systemClock, signal: new AbortController().signal }
  const [report] = await verify({ sources: [{ adapter, root }], ...request }, context)
  if (report === undefined) throw new Error("no report")
  return report
}

/** pi, but for what it writes. */
export function writing(change: (files: readonly OutputFile[]) => readonly OutputFile[]): Adapter {
  return {
    ...pi,
    serialize: {
      ...pi.serialize,
      native: (session, sink) =>
        wholeSession(session, (log) => {
          for (const file of change(nativeFiles(pi, log)))
            if (file.form === "log") for (const line of file.lines) sink.line(file.relativePath, line)
            else if (file.form !== "database") sink.file(file)
          return { sessionId: "" }
        }),
    },
  }
}

export function withLines(change: (lines: string[]) => string[]): Adapter {
  return writing((files) =>
    files.map((file) => (file.form === "log" ? { ...file, lines: change(Array.from(file.lines, String)) } : file)),
  )
}
