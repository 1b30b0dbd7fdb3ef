/** Each example that help shows is run, and does what it says. */
import { expect, test } from "bun:test"
import { cpSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { VERBS } from "../../src/cli/registry.ts"
import { homeOfClients } from "../support/clients-home.ts"
import { fakePrograms } from "../support/fake-programs.ts"
import type { RanExample } from "./run-examples.ts"

/** Exit codes besides 0 that an example may have where nothing but fixtures is, and why. */
const OTHERWISE: Readonly<Record<string, number>> = {
  "list --more": 3, // no list before it in this shell
  "search --more": 3,
  "restore SESSION": 8, // its client has it still
  browse: 2, // nobody sits there to look
  "browse login bug": 2,
  "browse --here": 2,
  'browse --agent codex --from "last week"': 2,
  "browse --starred": 2,
  resume: 2, // nobody sits there to choose
  "resume --here": 2,
  "resume login bug": 2,
  "resume --last": 3, // the directory of its fixture is nowhere
  "resume SESSION": 3, // the directory of its fixture is nowhere
  "export -o shop.pond --project shop --from 2026-01-01": 3, // nobody has a shop
  "blame src/app.ts": 2, // no such file in that directory
  "blame src/app.ts:42": 2,
  "blame src/app.ts --json": 2,
  "recover src/app.ts --list": 3,
  "recover src/app.ts": 3,
  "recover src/app.ts --at yesterday -o app.old.ts": 3,
  "recover src/app.ts -o src/app.ts --force": 3,
  "share SESSION --to gist --yes": 3, // gh is not installed
  "erase 7b2777b1": 3, // no such session here
  "erase 7b2777b1 --dry-run": 3,
  "erase --undo 7b2777b1": 3,
  "embeddings use multilingual-e5-small": 5, // nobody serves models at the endpoint below
  "embeddings use /opt/models/my-model": 2,
  "capture --since 6h --printed execution.json": 3, // no such file here
  upgrade: 3, // a source tree knows no page with releases
  "upgrade --check": 3,
  "upgrade --check --from /mnt/releases": 5, // nothing is mounted there
  "copy --from s3://bucket/pond --to /mnt/backup/pond --verify-only": 4, // nothing was copied there
}

test("every example of every verb", async () => {
  using home = homeOfClients()
  const work = join(home.path, "work")
  mkdirSync(work)
  cpSync(join(home.path, ".pi/agent/sessions"), join(home.path, "backup/pi-sessions"), { recursive: true })
  const programs = fakePrograms(home.path, { systemctl: "exit 0", claude: "exit 0", true: "exit 0" })
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "run-examples.ts")], {
    cwd: work,
    env: { HOME: home.path, PATH: programs.path, HF_ENDPOINT: "http://127.0.0.1:9" },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  })
  expect(await child.exited).toBe(0)
  const ran: RanExample[] = JSON.parse(readFileSync(join(work, "examples.json"), "utf8"))
  expect(new Set(ran.map(({ verb }) => verb))).toEqual(
    new Set(VERBS.map(({ name }) => name).filter((name) => name !== "mcp")),
  )
  const wrong = ran.filter(({ example, exitCode }) => exitCode !== (OTHERWISE[example] ?? 0))
  expect(
    wrong.map(({ example, exitCode, stderr, stdout }) => ({ example, exitCode, said: (stderr || stdout).slice(-300) })),
  ).toEqual([])
}, 120_000)
