/**
 * `bun run judge:atif`: every session of the fixtures is written as a trajectory, and the format's own package (PyPI `atif`, in
 * a virtual environment below the temporary directory) says whether it is one. Needs Python 3.12 and the network once.
 *
 *   bun run judge:atif             all clients
 *   bun run judge:atif codex pi    these
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ADAPTERS } from "../src/adapters/registry.ts"
import { shareTraces } from "../src/operations/share/traces/share-trace.ts"
import { fixturesOf, logsOf } from "../test/contract/fixtures.ts"
import { memoryPond } from "../test/operations/support.ts"

const VERSION = "1.8.0"
const ENVIRONMENT = join(tmpdir(), `pond-atif-${VERSION}`)

const JUDGE = `
import sys, pathlib
from atif import Trajectory
bad = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    try:
        Trajectory.model_validate_json(path.read_text(encoding="utf-8", errors="surrogatepass"))
    except Exception as error:
        bad += 1
        print(path.name, str(error)[:600])
sys.exit(1 if bad else 0)
`

function run(...command: readonly string[]): { readonly code: number; readonly said: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command])
  return { code: exitCode, said: `${stdout.toString()}${stderr.toString()}` }
}

function python(): string {
  const path = join(ENVIRONMENT, "bin/python")
  if (existsSync(path)) return path
  for (const command of [
    ["python3", "-m", "venv", ENVIRONMENT],
    [path, "-m", "pip", "install", "-q", `atif==${VERSION}`],
  ]) {
    const { code, said } = run(...command)
    if (code !== 0) throw new Error(`${command.join(" ")}: ${said}`)
  }
  return path
}

const asked = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), "pond-trajectories-"))
const { signal } = new AbortController()
let written = 0
for (const adapter of ADAPTERS.filter(({ id }) => asked.length === 0 || asked.includes(id))) {
  for (const fixture of fixturesOf(adapter)) {
    using place = memoryPond()
    const logs = [...(await logsOf(adapter, fixture.root)).values()]
    await place.place.sessions.write(logs)
    const share = shareTraces(place.pond, { format: "atif", isRedacted: false }, signal)
    for (const [index, { session }] of logs.entries()) {
      const text = (await Array.fromAsync(share.file(session.id))).join("")
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, `${adapter.id}-${fixture.name}-${index}.json`), text)
      written++
    }
  }
}
const { code, said } = run(python(), "-c", JUDGE, folder)
rmSync(folder, { recursive: true, force: true })
process.stdout.write(said)
process.stdout.write(`${written} trajectories, ${code === 0 ? "all valid" : "some are not"} (atif ${VERSION})\n`)
process.exitCode = code
