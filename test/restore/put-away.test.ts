/**
 * Codex archives threads and brings them back, which moves their rollouts: a session goes on wherever it lies by now, and
 * has no second copy where it lay when it was stored.
 */
import { expect, test } from "bun:test"
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { codex } from "../../src/adapters/codex/adapter.ts"
import { restorePlan } from "../../src/operations/wire/restore-plan.ts"
import { memoryPond } from "../operations/support.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"
import { syncedInto } from "./support.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures/codex")
const ARCHIVED = "019c1111-2222-7333-8444-555566667777"
const LIVE = "01a1ee88-01bb-76a1-bd5b-6c0c79d50902"
const REVERTED = "01a1ee88-f68a-7ac2-9e69-db4c3bd2671e"
const PLACES = {
  [ARCHIVED]: [
    `archived_sessions/rollout-2026-01-05T06-07-00-${ARCHIVED}.jsonl`,
    `sessions/2026/01/05/rollout-2026-01-05T06-07-00-${ARCHIVED}.jsonl`,
  ],
  [LIVE]: [
    `sessions/2026/11/18/rollout-2026-11-18T12-00-53-${LIVE}.jsonl`,
    `archived_sessions/rollout-2026-11-18T12-00-53-${LIVE}.jsonl`,
  ],
} as const

/** Says what it was told, and moves a rollout as Codex 0.169 does. */
const CLIENT = `#!/bin/sh
cd "$HOME/.codex" || exit 9
[ "$1" = --version ] || echo "codex $*" >> "$HOME/told"
case $1 in
unarchive)
  file=$(echo archived_sessions/*"$2".jsonl)
  [ -f "$file" ] || { echo "Error: failed to unarchive session" >&2; exit 1; }
  mkdir -p sessions/2026/01/05 && mv "$file" sessions/2026/01/05/ ;;
*) exit 7 ;;
esac
`

interface Machine extends TemporaryHome {
  readonly at: (place: string) => string
  readonly pond: (...words: readonly string[]) => ReturnType<typeof runPond>
  readonly told: () => readonly string[]
  readonly rollouts: () => readonly string[]
}

/** A home with Codex on its PATH, and what lies in it synced. */
async function machineWith(fixture: string): Promise<Machine> {
  const home = temporaryHome()
  const root = join(home.path, ".codex")
  cpSync(join(FIXTURES, fixture, "root"), root, { recursive: true })
  const bin = join(home.path, "bin")
  mkdirSync(bin)
  writeFileSync(join(bin, "codex"), CLIENT)
  chmodSync(join(bin, "codex"), 0o755)
  const env = { ...home.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` }
  const machine = {
    ...home,
    at: (place: string) => join(root, place),
    pond: (...words: readonly string[]) => runPond(words, { env }),
    told: () => readFileSync(join(home.path, "told"), "utf8").trimEnd().split("\n"),
    rollouts: () =>
      readdirSync(root, { recursive: true, encoding: "utf8" })
        .filter((place) => basename(place).startsWith("rollout-"))
        .toSorted(),
  }
  expect(await machine.pond("sync", "codex", "--only", "import")).toMatchObject({ exitCode: 0 })
  return machine
}

function moved({ at }: Machine, [from, to]: readonly [string, string]): void {
  mkdirSync(dirname(at(to)), { recursive: true })
  renameSync(at(from), at(to))
}

test("a thread that is archived is brought back before its client opens it, and only then", async () => {
  using machine = await machineWith("archived-review")
  const [, live] = PLACES[ARCHIVED]
  for (const place of machine.rollouts()) rmSync(machine.at(place))
  const first = await machine.pond("resume", ARCHIVED, "--cwd", machine.path)
  expect(first.stderr).toContain(`Codex had archived the session; unarchived it with \`codex unarchive ${ARCHIVED}\`.`)
  expect(first.exitCode).toBe(7)
  expect(existsSync(machine.at(live))).toBe(true)
  const lying = machine.rollouts()
  expect(await machine.pond("resume", ARCHIVED, "--cwd", machine.path)).toMatchObject({ exitCode: 7, stderr: "" })
  expect(machine.told()).toEqual([
    `codex unarchive ${ARCHIVED}`,
    `codex resume ${ARCHIVED}`,
    `codex resume ${ARCHIVED}`,
  ])
  expect(machine.rollouts()).toEqual(lying)
})

test.each([
  ["brought back since it was stored", "archived-review", ARCHIVED, [`codex resume ${ARCHIVED}`]],
  ["archived since it was stored", "tools", LIVE, [`codex unarchive ${LIVE}`, `codex resume ${LIVE}`]],
] as const)("a thread that was %s goes on as it lies", async (_, fixture, id, told) => {
  for (const isSeen of [false, true]) {
    using machine = await machineWith(fixture)
    moved(machine, PLACES[id])
    if (isSeen) expect(await machine.pond("sync", "codex", "--only", "import")).toMatchObject({ exitCode: 0 })
    const lying = machine.rollouts()
    const refused = await machine.pond("restore", id)
    expect(refused.stderr).toContain(`${machine.at(PLACES[id][1])} already exists. Use --force`)
    expect(refused.exitCode).toBe(8)
    expect(machine.rollouts()).toEqual(lying)
    expect(await machine.pond("resume", id, "--cwd", machine.path)).toMatchObject({ exitCode: 7 })
    expect(machine.told()).toEqual([...told])
    expect(machine.rollouts()).toHaveLength(lying.length)
  }
})

test("what is said of a restore has both commands, in an order in which they can be run", async () => {
  using machine = await machineWith("archived-review")
  const before = ["codex", "unarchive", ARCHIVED]
  const words = ["restore", ARCHIVED, "--cwd", machine.path, "--root", join(machine.path, "target")]
  const { stdout } = await machine.pond(...words)
  const told = `CODEX_HOME=${join(machine.path, "target")}`
  const steps = [`cd ${machine.path}`, `${told} codex unarchive ${ARCHIVED}`, `${told} codex resume ${ARCHIVED}`]
  expect(stdout).toContain(`${steps.join(" && ")}\n`)
  const { resume } = JSON.parse((await machine.pond(...words, "--dry-run", "--json")).stdout)
  expect(resume).toMatchObject({ before, command: ["codex", "resume", ARCHIVED], cwd: machine.path })
  expect(resume.environment).toEqual({ CODEX_HOME: join(machine.path, "target") })
})

test("a client that does not bring a thread back is quoted, with what to do by hand", async () => {
  using machine = await machineWith("archived-review")
  writeFileSync(join(machine.path, "bin/codex"), "#!/bin/sh\necho 'Error: no way back' >&2\nexit 1\n")
  const { exitCode, stderr } = await machine.pond("resume", ARCHIVED, "--cwd", machine.path)
  expect(stderr).toContain(
    `\`codex unarchive ${ARCHIVED}\` could not unarchive it (Error: no way back). Resume with: cd `,
  )
  expect(stderr).toEndWith(`&& codex unarchive ${ARCHIVED} && codex resume ${ARCHIVED}\n`)
  expect(exitCode).toBe(6)
})

test("with force a thread is replaced where it lies, and what lay there is kept beside", async () => {
  using machine = await machineWith("archived-review")
  const [, live] = PLACES[ARCHIVED]
  const stored = readFileSync(machine.at(PLACES[ARCHIVED][0]), "utf8")
  moved(machine, PLACES[ARCHIVED])
  appendFileSync(machine.at(live), "{}\n")
  const report = JSON.parse((await machine.pond("restore", ARCHIVED, "--force", "--json")).stdout)
  expect(report.resume.before).toBeUndefined()
  expect(report.files[0].path).toBe(machine.at(live))
  expect(readFileSync(machine.at(live), "utf8")).toBe(stored)
  const kept = report.backups.find((path: string) => path.startsWith(machine.at(live)))
  expect(readFileSync(kept, "utf8")).toBe(`${stored}{}\n`)
  expect(existsSync(machine.at(PLACES[ARCHIVED][0]))).toBe(false)
})

test("what was written into Codex as a new session is brought back too, and not written again", async () => {
  using machine = await machineWith("tools")
  const resume = () => machine.pond("resume", LIVE, "--anew", "--cwd", machine.path)
  expect(await resume()).toMatchObject({ exitCode: 7 })
  const [written = ""] = machine.rollouts().filter((place) => !place.includes(LIVE))
  moved(machine, [written, `archived_sessions/${basename(written)}`])
  const lying = machine.rollouts()
  expect((await resume()).exitCode).toBe(7)
  expect(machine.told().map((line) => line.split(" ")[1])).toEqual(["resume", "unarchive", "resume"])
  expect(machine.rollouts()).toHaveLength(lying.length)
})

test("a plan that is asked for over a wire says it too", async () => {
  using place = memoryPond()
  await syncedInto(place, codex, join(FIXTURES, "archived-review/root"))
  const { resume } = (await place.run(restorePlan, { session_id: ARCHIVED })) as { resume: unknown }
  expect(resume).toEqual({
    before: ["codex", "unarchive", ARCHIVED],
    command: ["codex", "resume", ARCHIVED],
    cwd: "/work/alpha",
  })
  const [{ id: other } = { id: "" }] = (await place.place.sessions.tables.sessions.read({ columns: ["id"] })).filter(
    ({ id }) => id !== ARCHIVED,
  )
  expect(await place.run(restorePlan, { session_id: other })).toMatchObject({
    resume: { command: ["codex", "resume", other], cwd: "/work/alpha" },
  })
})

test.each(["archived", "warm again"])("what a reverted thread says once it is %s stays in its rollout", async (how) => {
  using machine = await machineWith("reverted")
  const [, later = ""] = machine.rollouts().toSorted((left, right) => left.length - right.length)
  const sync = () => machine.pond("sync", "codex", "--only", "import")
  if (how === "archived") {
    for (const place of machine.rollouts()) moved(machine, [place, `archived_sessions/${basename(place)}`])
  } else {
    const cold = Bun.zstdCompressSync(readFileSync(machine.at(later)))
    rmSync(join(machine.path, ".local"), { recursive: true })
    writeFileSync(machine.at(`${later}.zst`), cold)
    renameSync(machine.at(later), join(machine.path, "warm"))
    expect(await sync()).toMatchObject({ exitCode: 0 })
    renameSync(join(machine.path, "warm"), machine.at(later))
    rmSync(machine.at(`${later}.zst`))
  }
  const payload = { type: "message", role: "user", content: [{ type: "input_text", text: "and on" }] }
  const line = { timestamp: "2026-11-19T02:00:00.000Z", ordinal: 9999, type: "response_item", payload }
  const now = machine.rollouts().find((place) => basename(place) === basename(later)) ?? ""
  appendFileSync(machine.at(now), `${JSON.stringify(line)}\n`)
  expect(await sync()).toMatchObject({ exitCode: 0 })
  const root = join(machine.path, "target")
  expect(await machine.pond("restore", REVERTED, "--root", root)).toMatchObject({ exitCode: 0, stderr: "" })
  const written = logsBelow(root)
  expect(written).toEqual(logsBelow(machine.at("")))
  expect([...written.values()].filter((log) => log.includes("and on"))).toHaveLength(1)
})

/** By their names, wherever they lie. */
function logsBelow(root: string): Map<string, string> {
  const places = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((place) => place.includes("rollout-"))
  const logs = places.map((place): [string, string] => {
    const bytes = readFileSync(join(root, place))
    const isCold = place.endsWith(".zst")
    return [basename(place, ".zst"), Buffer.from(isCold ? Bun.zstdDecompressSync(bytes) : bytes).toString("utf8")]
  })
  return new Map(logs.toSorted(([left], [right]) => (left < right ? -1 : 1)))
}

test("a thread that was moved since it was stored is as it is stored, and is compared record by record", async () => {
  using machine = await machineWith("reverted")
  const places = machine.rollouts()
  for (const place of places) moved(machine, [place, `archived_sessions/${basename(place)}`])
  const verified = async () => {
    const { stdout } = await machine.pond("verify", "codex", "--against-store", "--json")
    return JSON.parse(stdout).adapters[0].mismatches
  }
  expect(await verified()).toEqual([])
  const changed = machine.at(`archived_sessions/${basename(places[0] ?? "")}`)
  writeFileSync(changed, readFileSync(changed, "utf8").replace('"ordinal":2', '"ordinal":20'))
  expect(await verified()).toMatchObject([{ record: 3, pointer: "/ordinal", expected: "20", got: "2" }])
})

test("a live rollout that is shorter than the archived one is gone on with, and the longer is said and brought there with force", async () => {
  using machine = await machineWith("archived-review")
  const [archived, live] = PLACES[ARCHIVED]
  const whole = readFileSync(machine.at(archived), "utf8")
  const short = whole.split("\n").slice(0, 2).join("\n")
  mkdirSync(dirname(machine.at(live)), { recursive: true })
  writeFileSync(machine.at(live), `${short}\n`)
  const words = ["resume", ARCHIVED, "--cwd", machine.path]
  const synced = await machine.pond("sync", "codex", "--only", "import")
  expect(synced.stdout + synced.stderr).toContain("archiving it replaces the longer")
  const count = whole.split("\n").length - 1
  const said = `${machine.at(live)} has 2 lines, the stored session ${count}: Codex resumes the shorter one.`
  expect((await machine.pond(...words)).stderr).toContain(
    `${said} \`pond resume ${ARCHIVED} --cwd ${machine.path} --force\` resumes the stored one`,
  )
  const elsewhere = join(machine.path, "another root")
  cpSync(join(machine.path, ".codex"), elsewhere, { recursive: true })
  expect((await machine.pond(...words, "--root", elsewhere)).stderr).toContain(
    `--root '${elsewhere}' --cwd ${machine.path} --force\` resumes the stored one`,
  )
  expect(readFileSync(machine.at(live), "utf8")).toBe(`${short}\n`)
  const forced = await machine.pond(...words, "--force")
  expect(forced.exitCode).toBe(7)
  expect(readFileSync(machine.at(live), "utf8").split("\n")).toHaveLength(count + 1)
  const kept = readdirSync(dirname(machine.at(live))).filter((name) => name.startsWith(`${basename(live)}.`))
  expect(kept).toHaveLength(1)
  expect(readFileSync(machine.at(archived), "utf8")).toBe(whole)
})

const HOLDS = `const file = require("node:fs").openSync(process.argv[1], process.argv[2]); console.log(file); process.stdin.resume()`

test.skipIf(process.platform !== "linux")(
  "what a program has open to write it is not replaced, so that it does not write on into the backup",
  async () => {
    using machine = await machineWith("tools")
    const [place = ""] = machine.rollouts()
    const words = ["restore", LIVE, "--cwd", machine.path, "--force"]
    const index = "session_index.jsonl"
    writeFileSync(machine.at(index), `{"id":"${LIVE}","thread_name":"a name","updated_at":"2026-11-18T13:00:00Z"}\n`)
    expect(await machine.pond("sync", "codex", "--only", "import")).toMatchObject({ exitCode: 0 })
    const whileHeld = async (flags: string, held = place) => {
      const holder = Bun.spawn([process.execPath, "-e", HOLDS, machine.at(held), flags], {
        stdin: "pipe",
        stdout: "pipe",
      })
      await holder.stdout.getReader().read()
      const ran = await machine.pond(...words)
      holder.stdin.end()
      await holder.exited
      return { ...ran, holder: holder.pid }
    }
    const refused = await whileHeld("a")
    expect(refused.exitCode).toBe(6)
    expect(refused.stderr).toContain(`(process ${refused.holder}) has ${machine.at(place)} open`)
    expect(machine.rollouts()).toEqual([place])
    expect((await whileHeld("r")).exitCode).toBe(0)
    // What all sessions share is added to, and stays where it is.
    const added = await whileHeld("a", index)
    expect(added).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(machine.at(index)) })
  },
)
