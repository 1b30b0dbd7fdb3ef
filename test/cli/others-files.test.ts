/** What `sudo pond` leaves behind: files among pond's own that this user may not write, or not even see. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeSampleSession } from "../../build/corpus/sample-session.ts"
import { AS_USER, CAN_BE_USER, IS_ROOT } from "../support/as-user.ts"
import { POND } from "../support/bundled-pond.ts"
import { homeOfClients } from "../support/clients-home.ts"

const STATE = ".local/state/pond"

let scratch: string

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "pond-others-"))
  chmodSync(scratch, 0o755)
  if (!CAN_BE_USER) return
  using well = homeOfClients()
  cpSync(well.path, join(scratch, "well"), { recursive: true })
  if (IS_ROOT) Bun.spawnSync(["chown", "-R", "65534:65534", join(scratch, "well")])
})
afterAll(() => {
  Bun.spawnSync(["chmod", "-R", "u+rwX", scratch])
  rmSync(scratch, { recursive: true, force: true })
})

function run(home: string, ...args: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...AS_USER, process.execPath, POND, ...args], {
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
    stdin: "ignore",
    stderr: "pipe",
  })
  return { exitCode, said: stdout.toString() + stderr.toString() }
}

/** A home in which something was said that is not stored yet, and then that happened. */
function homeWhere(happens: (state: string) => void): string {
  const home = mkdtempSync(join(scratch, "home-"))
  cpSync(join(scratch, "well"), home, { recursive: true })
  if (IS_ROOT) Bun.spawnSync(["chown", "-R", "65534:65534", home])
  expect(run(home, "sync", "-q").exitCode).toBe(0)
  const [log = ""] = new Bun.Glob(".claude/projects/*/*.jsonl").scanSync({ cwd: home, absolute: true, dot: true })
  const lines = readFileSync(log, "utf8").split("\n")
  const said = lines.findLast((line) => line.includes('"type":"user"')) ?? ""
  appendFileSync(log, `${JSON.stringify({ ...JSON.parse(said), uuid: crypto.randomUUID() })}\n`)
  happens(join(home, STATE))
  if (IS_ROOT) Bun.spawnSync(["chown", "-R", "65534:65534", home])
  return home
}

const named = (state: string, end: string) =>
  readdirSync(state)
    .filter((name) => name.endsWith(end))
    .map((name) => join(state, name))

const BELOW = { absolute: true, dot: true } as const

interface Synced {
  readonly adapters: readonly { readonly issues: readonly { readonly kind: string }[] }[]
}

const UNKNOWN = "unexpectedly"

test.if(CAN_BE_USER)(
  "a log that may not be read any more keeps no other from being stored, and is gone on with once it may",
  () => {
    const logs = (state: string) =>
      new Bun.Glob(".claude/projects/*/*.jsonl").scanSync({ ...BELOW, cwd: join(state, "../../..") })
    const home = homeWhere((state) => {
      for (const log of logs(state)) chmodSync(log, 0)
      writeSampleSession(join(state, "../../.."))
    })
    const synced = () =>
      JSON.parse(run(home, "sync", "--json", "--only", "import", "-q").said.trim().split("\n").at(-1) ?? "") as Synced
    const kinds = ({ adapters }: Synced) => adapters[0]?.issues.map(({ kind }) => kind)
    const closed = synced()
    expect(closed.adapters[0]).toMatchObject({ sessions: { new: 1 }, messages: { new: 2 } })
    expect(kinds(closed)).toContain("unreadable_file")
    expect(kinds(synced())).toContain("unreadable_file")
    for (const log of logs(join(home, STATE))) chmodSync(log, 0o644)
    const open = synced()
    expect(open.adapters[0]).toMatchObject({ sessions: { grown: 1, rewritten: 0 }, messages: { new: 1 } })
    expect(kinds(open)).not.toContain("unreadable_file")
  },
)

test.if(CAN_BE_USER)(
  "who may not enter the folder of the state reads all the same, and is told why nothing is stored",
  () => {
    const home = homeWhere((state) => chmodSync(state, 0))
    for (const verb of [["search", "charged"], ["sql", "select 1"], ["stats"], ["status"], ["doctor"]]) {
      const { exitCode, said } = run(home, ...verb)
      expect({ verb, exitCode, isKnown: !said.includes(UNKNOWN) }).toEqual({
        ...{ verb, isKnown: true },
        exitCode: verb[0] === "doctor" ? 4 : 0,
      })
    }
    expect(run(home, "status").said).not.toContain("no supported client has sessions here")
    const { exitCode, said } = run(home, "sync")
    expect(exitCode).toBe(5)
    expect(said).toMatch(/Cannot write to .*\.local\/state\/pond \(EACCES\)/)
  },
)

test.if(CAN_BE_USER)("a state that may only be read is named by the sync that has something to remember", () => {
  const home = homeWhere((state) => {
    for (const path of named(state, ".sqlite")) chmodSync(path, 0o400)
  })
  const { exitCode, said } = run(home, "sync")
  expect(said).toMatch(/Cannot write to .*\.sqlite \(SQLITE_READONLY\)\. Make it writable/)
  expect(exitCode).toBe(5)
  const doctor = run(home, "doctor")
  expect(doctor.exitCode).toBe(4)
  expect(doctor.said).toMatch(/failed +permissions: not writable: .*\.sqlite/)
})

test.if(CAN_BE_USER)("a state that may not even be read is named", () => {
  const home = homeWhere((state) => {
    for (const path of named(state, ".sqlite")) chmodSync(path, 0)
  })
  const { exitCode, said } = run(home, "sync")
  expect(said).toMatch(/Cannot write to .*\.sqlite \(SQLITE_CANTOPEN\)\. Make it writable/)
  expect(exitCode).toBe(5)
})

test.if(CAN_BE_USER)(
  "a note of who holds the lock is for people: one that cannot be written keeps nobody from the lock",
  () => {
    const home = homeWhere((state) => {
      for (const path of named(state, ".lock")) writeFileSync(`${path}.holder`, "{}", { mode: 0o400 })
    })
    expect(run(home, "sync", "-q")).toMatchObject({ exitCode: 0 })
    expect(named(join(home, STATE), ".holder")).toEqual([])
  },
)

test.if(CAN_BE_USER)("a lock that may only be read is not taken for one that is held alone", () => {
  const home = homeWhere((state) => {
    for (const path of named(state, ".lock")) chmodSync(path, 0o400)
  })
  const { exitCode, said } = run(home, "sync")
  expect(said).toMatch(/Cannot lock .*\.lock\. Make it .*writable/)
  expect(exitCode).toBe(5)
})
