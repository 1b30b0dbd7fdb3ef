/**
 * `bun run clients`: the clients themselves are the judges. Each session that a real client wrote against the scripted model
 * is synced into a store, restored into a fresh home (into its own client, and into every other one), and handed to the
 * target client, which must list it, resume it, and send its model the same conversation.
 *
 * Needs the clients' installation: CLIENTS_ROOT names it, with its sessions under `out/<client>-<version>/<scenario>`.
 *   bun run clients                      everything          bun run clients --native        its own client alone
 *   bun run clients --from pi --to codex                     bun run clients --scenario tools,fork
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"

const ROOT = process.env["CLIENTS_ROOT"] ?? join(tmpdir(), "clients")
const POND = [process.execPath, join(import.meta.dir, "../src/main.ts")]

/** The client's folder of sessions below a home, its adapter and its check. */
interface Client {
  readonly name: string
  readonly adapter: string
  readonly folder: string
}

const CLIENTS: readonly Client[] = [
  { name: "claude", adapter: "claude-code", folder: ".claude" },
  { name: "codex", adapter: "codex", folder: ".codex" },
  { name: "opencode", adapter: "opencode", folder: ".local/share/opencode" },
  { name: "pi", adapter: "pi", folder: ".pi/agent/sessions" },
]

interface Expected {
  readonly sessions: Readonly<Record<string, { readonly cwd: string; readonly items: readonly unknown[] }>>
}

interface Verdict {
  readonly from: string
  readonly to: string
  readonly scenario: string
  readonly session: string
  readonly ok: boolean
  readonly why: string
}

const { values } = parseArgs({
  options: {
    from: { type: "string" },
    to: { type: "string" },
    scenario: { type: "string" },
    native: { type: "boolean", default: false },
  },
})

function main(): void {
  const verdicts: Verdict[] = []
  for (const client of CLIENTS.filter(({ name }) => values.from === undefined || values.from === name)) {
    for (const { scenario, home } of scenariosOf(client)) verdicts.push(...judge(client, scenario, home))
  }
  summarize(verdicts)
  process.exitCode = verdicts.length > 0 && verdicts.every(({ ok }) => ok) ? 0 : 1
}

function scenariosOf({ name }: Client): { readonly scenario: string; readonly home: string }[] {
  const out = join(ROOT, "out")
  const folders = existsSync(out) ? readdirSync(out).filter((folder) => new RegExp(`^${name}-\\d`).test(folder)) : []
  const wanted = values.scenario?.split(",")
  return folders.flatMap((folder) =>
    readdirSync(join(out, folder))
      .filter((scenario) => wanted === undefined || wanted.includes(scenario))
      .map((scenario) => ({ scenario, home: join(out, folder, scenario) })),
  )
}

function judge(client: Client, scenario: string, home: string): Verdict[] {
  const expected = JSON.parse(readFileSync(join(home, "expected.json"), "utf8")) as Expected
  const scratch = mkdtempSync(join(tmpdir(), "pond-clients-"))
  try {
    const synced = pond(scratch, ["sync", client.adapter, "--path", join(home, client.folder)])
    if (synced.code !== 0 && synced.code !== 4) throw new Error(`sync failed: ${synced.err}`)
    return Object.entries(expected.sessions).flatMap(([session, { cwd, items }]) =>
      CLIENTS.filter((target) => isWanted(client, target)).map((target) => {
        const verdict = judgeOne({
          client,
          target,
          scratch,
          session,
          cwd,
          items,
          expectedPath: join(home, "expected.json"),
        })
        const whole = { from: client.name, to: target.name, scenario, session, ...verdict }
        console.log(
          `${whole.ok ? "ok  " : "FAIL"} ${whole.from} -> ${whole.to} ${scenario} ${session}${whole.ok ? "" : `  ${whole.why}`}`,
        )
        return whole
      }),
    )
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function isWanted(client: Client, target: Client): boolean {
  if (values.to !== undefined) return target.name === values.to
  return !values.native || target === client
}

interface Case {
  readonly client: Client
  readonly target: Client
  readonly scratch: string
  readonly session: string
  readonly cwd: string
  readonly items: readonly unknown[]
  readonly expectedPath: string
}

function judgeOne({ client, target, scratch, session, cwd, items, expectedPath }: Case): {
  readonly ok: boolean
  readonly why: string
} {
  const isNative = client === target
  const home = mkdtempSync(join(scratch, "home-"))
  mkdirSync(join(home, target.folder), { recursive: true })
  const restored = pond(scratch, [
    "restore",
    session,
    "--to",
    target.adapter,
    "--root",
    join(home, target.folder),
    "--json",
  ])
  if (restored.code !== 0) return { ok: false, why: `restore: ${restored.out}${restored.err}`.slice(0, 400) }
  const { session_id } = JSON.parse(restored.out) as { session_id: string }
  const loose = join(scratch, "expected.json")
  writeFileSync(loose, JSON.stringify({ items }))
  const checked = Bun.spawnSync(
    [join(ROOT, "check", `${target.name}.sh`), home, session_id, cwd, isNative ? expectedPath : loose],
    {
      env: { ...process.env, CLIENTS_ROOT: ROOT, ...(isNative ? {} : { LOOSE: "1", ALLOW_EXTRA: "1" }) },
      stderr: "pipe",
    },
  )
  const said = checked.stdout.toString().trim()
  return { ok: checked.exitCode === 0, why: said.slice(0, 600) || checked.stderr.toString().slice(0, 400) }
}

function pond(
  scratch: string,
  args: readonly string[],
): { readonly code: number; readonly out: string; readonly err: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...POND, ...args, "--store", join(scratch, "store")], {
    env: { PATH: process.env["PATH"] ?? "", HOME: scratch, TMPDIR: tmpdir() },
    stderr: "pipe",
  })
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() }
}

function summarize(verdicts: readonly Verdict[]): void {
  const pairs = Map.groupBy(verdicts, ({ from, to }) => `${from} -> ${to}`)
  for (const [pair, all] of pairs) {
    const failed = all.filter(({ ok }) => !ok)
    console.log(
      `${pair.padEnd(24)} ${all.length - failed.length} of ${all.length}${failed.length === 0 ? "" : `  (${[...new Set(failed.map(({ scenario }) => scenario))].join(", ")})`}`,
    )
  }
  if (verdicts.length === 0)
    console.log(
      `No sessions of real clients below ${join(ROOT, "out")}. Install the clients there, or name their place with CLIENTS_ROOT.`,
    )
}

main()
