/** Every verb's `--json` is the document of its operation, by its published schema: run as processes, in one home. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { join } from "node:path"
import type { TSchema } from "typebox"
import { Compile } from "typebox/compile"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { VERBS } from "../../src/cli/registry.ts"
import { schemas } from "../../src/http/schemas.ts"
import { LOCAL_OPERATIONS, OPERATIONS } from "../../src/operations/table.ts"
import { homeOfClients } from "../support/clients-home.ts"
import { fakePrograms } from "../support/fake-programs.ts"
import type { TemporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

let home: TemporaryHome
let env: Record<string, string>
let sessionId = ""

beforeAll(async () => {
  home = homeOfClients()
  // Passes the test of a model; see `test/cli/embeddings.test.ts`.
  writeTinyModel(`${home.path}/model`, { seed: 256 })
  await Bun.write(join(home.path, "release/release.json"), '{"name":"pond","version":"9.0.0"}')
  const programs = fakePrograms(home.path, { systemctl: "exit 0" })
  env = { ...home.env, PATH: programs.path }
  const synced = await runPond(["sync", "--json"], { env })
  expect(synced.stderr).not.toContain("error")
  // As the clients left it in the directory of that name.
  await Bun.write(join(home.path, "alpha/ノート note.txt"), "FIRST line (edited) ✏️\n二行目 🎌\nshalom שלום\n")
  const { sessions } = JSON.parse((await runPond(["search", "the", "--json"], { env })).stdout)
  sessionId = sessions[0].session_id
}, 60_000)
afterAll(() => home[Symbol.dispose]())

/** In this order: some say how things stand after others. SESSION and HOME stand for what is known when they run. */
const LINES: readonly string[] = [
  "init --dry-run",
  "init --yes",
  "sync",
  "sync --dry-run",
  "sync --full --only import",
  "capture --since 6h",
  "verify",
  "verify claude-code --through-store",
  "restore SESSION --to pi --root HOME/there --cwd HOME --dry-run",
  "restore SESSION --to pi --root HOME/there --cwd HOME",
  "rescue claude-code --to pi --root HOME/rescued --cwd HOME --dry-run",
  "rescue claude-code --to pi --root HOME/rescued --cwd HOME",
  "status",
  "status --quick",
  "stats",
  "stats --by tool",
  "label SESSION --name Mine --star --tag a --note later",
  "label SESSION",
  "list --starred",
  "cost",
  "cost --by session --from 2026-01-01",
  "stats --cost",
  "secrets",
  "exclude add /nowhere",
  "share SESSION --to HOME/shared",
  "share --list",
  "unshare SESSION",
  "unshare --expired",
  "exclude list",
  "exclude remove /nowhere",
  "erase SESSION --dry-run",
  "erase SESSION --yes --purge",
  "erase --list",
  "erase --undo SESSION",
  "sync --full",
  "config",
  "config set embeddings.model my-model",
  "config unset embeddings.model",
  "doctor",
  "adapters list",
  "adapters discover",
  "adapters disable pi",
  "adapters enable pi",
  "embeddings list",
  "embeddings use HOME/model",
  "embeddings status",
  "embeddings off",
  "schedule start --dry-run",
  "schedule start",
  "schedule status",
  "schedule logs",
  "schedule stop",
  "optimize",
  "check",
  "check --read-data",
  "repair",
  "storage check",
  "namespace list",
  "namespace create team-a",
  "export -o HOME/all.pond",
  "export -o HOME/one.pond --session SESSION",
  "import HOME/all.pond --dry-run",
  "copy --to HOME/copied",
  "copy --to HOME/copied --verify-only",
  "list",
  "list --limit 1 --errors",
  "search the",
  "get SESSION",
  "files SESSION",
  "blame HOME/alpha/ノート+note.txt",
  "recover HOME/alpha/ノート+note.txt --list",
  "sql select+1",
  "upgrade --check --from HOME/release",
  "init --undo",
  "uninstall --dry-run --yes",
  "uninstall --yes",
]

function verbOf(line: string): string {
  // It prints what `cost` does.
  if (line === "stats --cost") return "cost"
  const names = VERBS.map(({ name }) => name).toSorted((left, right) => right.length - left.length)
  return names.find((name) => line === name || line.startsWith(`${name} `)) ?? ""
}

function schemaOf(verb: string): TSchema {
  const operation = [...OPERATIONS, ...LOCAL_OPERATIONS].find(({ surfaces }) => surfaces.cli === verb)
  const isLocal = operation !== undefined && "local" in operation.surfaces
  const [name, kind] = [operation?.name ?? "", isLocal ? "document" : "response"]
  return schemas().get(`${name}_${kind}`) as unknown as TSchema
}

async function run(line: string) {
  const words = line
    .split(" ")
    .map((word) => word.replace("SESSION", sessionId).replace("HOME", home.path).replace("+", " "))
  const { stdout, exitCode } = await runPond([...words, "--json"], { env, cwd: home.path })
  const faults = [...Compile(schemaOf(verbOf(line))).Errors(JSON.parse(stdout))]
  return { line, exitCode, faults: faults.map(({ instancePath, message }) => `${instancePath} ${message}`) }
}

test("what a verb prints with --json has the published shape", async () => {
  for (const line of LINES) expect(await run(line)).toEqual({ line, exitCode: 0, faults: [] })
}, 300_000)

test("no verb with a document is left out", () => {
  const tried = new Set(LINES.map(verbOf))
  const verbs = [...OPERATIONS, ...LOCAL_OPERATIONS].flatMap(({ surfaces }) => surfaces.cli ?? [])
  // `watch` prints the documents of `sync`, one a round; `resume` starts another program.
  expect(verbs.filter((verb) => !tried.has(verb) && !["watch", "resume"].includes(verb))).toEqual([])
})
