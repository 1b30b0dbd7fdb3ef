/** Things that break on real machines, each really broken: `pond doctor` names it with what to do, or mends it. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AS_USER, CAN_BE_USER, IS_ROOT } from "../support/as-user.ts"
import { POND } from "../support/bundled-pond.ts"
import { homeOfClients } from "../support/clients-home.ts"
import type { TemporaryHome } from "../support/pond-process.ts"

let well: TemporaryHome
let scratch: string

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "pond-broken-"))
  chmodSync(scratch, 0o755)
  well = homeOfClients()
  if (IS_ROOT) Bun.spawnSync(["chown", "-R", "65534:65534", well.path])
  if (CAN_BE_USER) run(well.path, ["sync", "-q"])
})
afterAll(() => {
  well[Symbol.dispose]()
  Bun.spawnSync(["chmod", "-R", "u+rwX", scratch])
  rmSync(scratch, { recursive: true, force: true })
})

function run(home: string, args: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...AS_USER, process.execPath, POND, ...args], {
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
    stdin: "ignore",
    stderr: "pipe",
  })
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

interface Finding {
  readonly check: string
  readonly status: string
  readonly found: string
  readonly fix: { readonly done: boolean } | null
}

function doctor(home: string, ...args: readonly string[]) {
  const { exitCode, stdout } = run(home, ["doctor", "--json", ...args])
  const findings: Finding[] = JSON.parse(stdout).findings
  return { exitCode, findings, ill: findings.filter(({ status }) => status !== "ok" && status !== "todo") }
}

const STORE = ".local/share/pond/store"

interface Breakage {
  readonly what: string
  readonly break: (home: string) => void
  readonly check: string
  readonly says: RegExp
  readonly isMended?: true
}

const BREAKAGES: readonly Breakage[] = [
  {
    what: "a setting of a newer pond",
    break: (home) => writeFileSync(join(home, ".config/pond/config.toml"), "[telepathy]\non = true\n"),
    check: "config",
    says: /config\.toml:1: unknown setting telepathy\. Remove it, or update pond if a newer one wrote it\.$/,
  },
  {
    what: "a file where the store should be",
    break: (home) => {
      rmSync(join(home, STORE), { recursive: true })
      writeFileSync(join(home, STORE), "", { mode: 0o600 })
    },
    check: "store",
    says: /part of its path is a file\. Choose another with --store\.$/,
  },
  {
    what: "a file in the way of the state",
    break: (home) => {
      rmSync(join(home, ".local/state"), { recursive: true })
      writeFileSync(join(home, ".local/state"), "", { mode: 0o600 })
    },
    check: "state directory",
    says: /^Cannot write to .*state\/pond \(ENOTDIR\)\. Part of the path is a file/,
  },
  {
    what: "a store that its owner may not enter",
    break: (home) => chmodSync(join(home, STORE), 0),
    check: "permissions",
    says: /^their owner has no access to .*store$/,
    isMended: true,
  },
  {
    what: "a table that nobody may read",
    break: (home) => chmodSync(join(home, STORE, "messages.lance"), 0),
    check: "store",
    says: /^Permission denied: .*messages\.lance(?:\/_versions)?, part of the store\. .*chmod -R u\+rwX/,
  },
  {
    what: "a client's sessions that nobody may read",
    break: (home) => chmodSync(join(home, ".codex"), 0),
    check: "clients",
    says: /^cannot read Codex in .*\.codex: its sessions are not stored\. .*pond adapters disable/,
  },
]

function broken(breakIt: (home: string) => void): string {
  const home = mkdtempSync(join(scratch, "home-"))
  cpSync(well.path, home, { recursive: true })
  mkdirSync(join(home, ".config/pond"), { recursive: true })
  breakIt(home)
  if (IS_ROOT) Bun.spawnSync(["chown", "-R", "65534:65534", home])
  return home
}

test.if(CAN_BE_USER).each(BREAKAGES)(
  "$what is one failure, with what to do",
  ({ break: breakIt, check, says, isMended }) => {
    const home = broken(breakIt)
    const { exitCode, ill } = doctor(home)
    expect(exitCode).toBe(4)
    expect(ill.find((finding) => finding.check === check)).toMatchObject({
      status: "failed",
      found: expect.stringMatching(says),
    })
    expect(ill.filter(({ found }) => /does not know|with -v/.test(found))).toEqual([])
    if (isMended !== true) return
    const mended = doctor(home, "--fix")
    expect(mended.findings.find((finding) => finding.check === check)).toMatchObject({
      status: "ok",
      fix: { done: true },
    })
    expect([mended.exitCode, doctor(home).exitCode]).toEqual([0, 0])
  },
)

test.if(CAN_BE_USER)("a state that is damaged is in nobody's way", () => {
  const home = broken((path) => {
    const state = join(path, ".local/state/pond")
    const remembered = readdirSync(state).filter((name) => name.endsWith(".sqlite"))
    expect(remembered.length).toBe(1)
    for (const name of remembered) writeFileSync(join(state, name), "garbage")
  })
  expect(doctor(home)).toMatchObject({ exitCode: 0, ill: [] })
  expect(run(home, ["sync", "-q"]).exitCode).toBe(0)
  expect(doctor(home).findings.find(({ check }) => check === "store")?.found).toMatch(/ contains \d+ messages$/)
  // Nothing is wrong with what was never set up, and it is not fine either.
  expect(
    doctor(home)
      .findings.filter(({ status }) => status === "todo")
      .map(({ check }) => check),
  ).toContain("schedule")
})

test.if(CAN_BE_USER)("a lock that something else wrote into is named, with what to do", () => {
  const home = broken((path) => {
    const own = join(path, STORE, ".pond")
    for (const name of readdirSync(own).filter((each) => each.endsWith(".lock")))
      writeFileSync(join(own, name), "999999")
    // Who has nothing to store needs no lock.
    const [log = ""] = new Bun.Glob(".claude/projects/*/*.jsonl").scanSync({ cwd: path, absolute: true, dot: true })
    const said =
      readFileSync(log, "utf8")
        .split("\n")
        .findLast((line) => line.includes('"type":"user"')) ?? ""
    appendFileSync(log, `${JSON.stringify({ ...JSON.parse(said), uuid: crypto.randomUUID() })}\n`)
  })
  const { exitCode, stderr } = run(home, ["sync", "-q"])
  expect(exitCode).toBe(5)
  expect(stderr).toMatch(
    /Cannot lock .*\.lock\. Another program wrote to it\. .* delete the file: it contains no data\./,
  )
})
