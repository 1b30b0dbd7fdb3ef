import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"

/** Far below what the driver waits for an answer that does not come. */
const ENDED_MS = 10_000

/** It answers what it will be asked, and ends when nobody will ask any more, as Codex does. */
const ANSWERING = `#!/bin/sh
echo '{"id":"0","result":{}}'
echo '{"id":"1","result":{"data":["one"]}}'
cat > /dev/null
`

test.skipIf(process.platform === "win32")(
  "who was answered has ended: no limit that was not reached is waited for",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "pond-drive-"))
    try {
      writeFileSync(join(folder, "codex"), ANSWERING, { mode: 0o755 })
      const { exitCode, stdout, stderr } = Bun.spawnSync(
        [process.execPath, join(import.meta.dir, "drive.ts"), "codex", JSON.stringify([{ ask: "thread/list" }])],
        { env: { PATH: `${folder}${delimiter}${process.env["PATH"]}` }, timeout: ENDED_MS, stderr: "pipe" },
      )
      expect(JSON.parse(stdout.toString())).toEqual({
        ask: "thread/list",
        answer: { id: "1", result: { data: ["one"] } },
      })
      expect({ exitCode, said: stderr.toString() }).toEqual({ exitCode: 0, said: "" })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
