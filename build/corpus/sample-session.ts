/** One small session of one client in a home directory: enough for a store to hold something that can be asked for. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export const SAMPLE_SESSION_ID = "5b1e8f2c-7a94-4c1d-9e0f-3d2a6b8c4e10"

const ASKED = "0c1d2e3f-1111-4222-8333-444455556666"
const ANSWERED = "0c1d2e3f-1111-4222-8333-444455557777"

export function writeSampleSession(home: string): void {
  const lines = [
    line(ASKED, null, "user", "How do water lilies float?"),
    line(ANSWERED, ASKED, "assistant", "On the air in their leaves."),
  ]
  const folder = join(home, ".claude/projects/-garden")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${SAMPLE_SESSION_ID}.jsonl`), `${lines.join("\n")}\n`)
}

function line(uuid: string, parentUuid: string | null, role: string, text: string): string {
  return JSON.stringify({
    parentUuid,
    isSidechain: false,
    userType: "external",
    cwd: "/garden",
    sessionId: SAMPLE_SESSION_ID,
    version: "2.1.0",
    type: role,
    message: { role, content: [{ type: "text", text }] },
    uuid,
    timestamp: "2026-01-02T03:04:05.678Z",
  })
}
