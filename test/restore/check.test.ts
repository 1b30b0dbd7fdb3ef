/** What a restore would write is read back before anything is written: over every fixture and pair, and with every fault found. */
import { expect, test } from "bun:test"
import { join } from "node:path"
import type { Adapter, OutputFile, OutputLine } from "../../src/adapters/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import type { Entry, SessionLog } from "../../src/model/session.ts"
import { realFiles } from "../../src/platform/files/files.ts"
import { writeForeignRows } from "../../src/platform/files/foreign-sqlite-writer.ts"
import { checkDraft } from "../../src/restore/check.ts"
import { writeDraft } from "../../src/restore/draft.ts"
import { planRestore, type RestorePlan } from "../../src/restore/plan.ts"
import type { StoredTree } from "../../src/sessions/read/read-sessions.ts"
import { fixtureLogs, fixturesOf, foreignTargets, logsOf, targetsOf } from "../contract/fixtures.ts"
import { tempFolder } from "../support/temp-folder.ts"
import { storedLog } from "./support.ts"

type Logs = ReadonlyMap<string, SessionLog>

function treeOf(logs: Logs, log: SessionLog): StoredTree {
  const children = [...logs.values()].filter(({ session }) => session.parent_session_id === log.session.id)
  return { ...storedLog(log), children: children.map((child) => treeOf(logs, child)) }
}

function ancestorsOf(logs: Logs, { session }: SessionLog): SessionLog[] {
  const parent = logs.get(session.parent_session_id ?? "")
  return parent === undefined ? [] : [parent, ...ancestorsOf(logs, parent)]
}

async function planned(logs: Logs, log: SessionLog, target: Adapter, isAnew = false): Promise<RestorePlan> {
  return planRestore({
    tree: treeOf(logs, log),
    ancestors: async () => ancestorsOf(logs, log),
    log: async (id) => {
      const needed = logs.get(id)
      return needed === undefined ? Promise.reject(new Error(`no ${id}`)) : storedLog(needed)
    },
    target,
    cwd: undefined,
    reasoning: "text",
    isAnew,
  })
}

async function check(plan: RestorePlan, files: readonly OutputFile[] = plan.proof.files): Promise<void> {
  using folder = tempFolder()
  await writeDraft(realFiles, folder.path, files, async (path, file) => writeForeignRows(path, file).backups)
  await checkDraft(plan, folder.path)
}

/** Clients whose sessions pond only reads are targets of their own sessions alone. */
const WRITTEN = new Set(foreignTargets())

for (const source of ADAPTERS)
  for (const target of ADAPTERS.filter((each) => each === source || targetsOf(source).includes(each)))
    test(`what is written of ${source.id} for ${target.id} reads back`, async () => {
      let checked = 0
      for (const { root } of fixturesOf(source)) {
        const logs = await fixtureLogs(source, root)
        for (const log of logs.values()) {
          await check(await planned(logs, log, target))
          checked++
        }
      }
      expect(checked).toBeGreaterThan(0)
    }, 60_000)

/** Sessions of which the client of today opens none, by the fixture that has them. */
const OUTDATED: Readonly<Record<string, readonly string[]>> = {
  "claude-code": [],
  codex: ["damaged", "first-clients"],
  opencode: ["events", "first-tree", "handed-over", "tree"],
  pi: ["headless", "v4-lanes", "v4-transactions"],
  "gemini-cli": ["v0.28-document"],
  "copilot-cli": ["v0.0.330-document"],
  cline: ["v2-words", "v3-shown", "v3.89-task"],
  kimi: ["kimi-cli"],
  hermes: ["snapshot"],
  goose: ["schema-9"],
  vibe: ["v1-document"],
}

test.each([...WRITTEN].map((adapter) => [adapter.id, adapter] as const))(
  "what is written anew for %s reads back, and what was restored in an old form is known for it",
  async (id, adapter) => {
    const outdated = new Set<string>()
    for (const { name, root } of fixturesOf(adapter)) {
      const logs = await fixtureLogs(adapter, root)
      for (const log of logs.values()) {
        const anew = await planned(logs, log, adapter, true)
        expect(anew).toMatchObject({ fidelity: "foreign", isOutdated: false })
        await check(anew)
        if ((await planned(logs, log, adapter)).isOutdated) outdated.add(name)
      }
    }
    expect(outdated).toEqual(new Set(OUTDATED[id]))
  },
  60_000,
)

// --- Faults ------------------------------------------------------------------------------------------------------------

async function planOf(from: string, fixture: string, to: string): Promise<RestorePlan> {
  const [source, target] = [from, to].map((id) => ADAPTERS.find((each) => each.id === id))
  const root = source && fixturesOf(source).find(({ name }) => name === fixture)?.root
  if (source === undefined || target === undefined || root === undefined) throw new Error("no fixture")
  const logs = await fixtureLogs(source, root)
  const roots = [...logs.values()].filter(({ session }) => !logs.has(session.parent_session_id ?? ""))
  return planned(logs, roots[0] as SessionLog, target)
}

/** The files with one text in them changed, wherever it stands. */
function changed(files: readonly OutputFile[], before: string, after: string): OutputFile[] {
  const text = JSON.stringify(files)
  expect(text).toContain(before)
  return JSON.parse(text.replaceAll(before, after)) as OutputFile[]
}

test.each([...WRITTEN].filter(({ id }) => id !== "claude-code").map(({ id }) => id))(
  "a word that would change on the way into %s stops the restore",
  async (to) => {
    const plan = await planOf("claude-code", "tools", to)
    await check(plan)
    const tampered = check(plan, changed(plan.files, "TOOLS-TEXT-2 Writing", "TOOLS-TEXT-2 Righting"))
    await expect(tampered).rejects.toMatchObject({
      code: "internal",
      message: expect.stringContaining("Nothing was written"),
    })
  },
)

test.each(["codex", "pi"])("lines that %s would lose stop the restore", async (to) => {
  const plan = await planOf("claude-code", "tools", to)
  const files = plan.files.map((file) =>
    file.form === "log" ? { ...file, lines: [...file.lines].slice(0, -3) } : file,
  )
  await expect(check(plan, files)).rejects.toMatchObject({ code: "internal" })
})

test.each(["codex", "opencode", "pi"])("a sub-agent that %s would be told wrong stops the restore", async (to) => {
  const plan = await planOf("claude-code", "agent", to)
  expect(plan.sessions.length).toBeGreaterThan(1)
  await check(plan)
  const tampered = check(plan, changed(plan.files, "SUBWORK-TEXT", "SUBWORK-TEST"))
  await expect(tampered).rejects.toMatchObject({ details: { difference: expect.stringContaining("sub-agent") } })
})

test("a native restore that would change one value is stopped", async () => {
  const plan = await planOf("claude-code", "tools", "claude-code")
  await check(plan)
  await expect(check(plan, changed(plan.files, "TOOLS-TEXT-2 W", "TOOLS-TEXT-2 V"))).rejects.toMatchObject({
    code: "internal",
  })
})

test.each(["claude-code", "codex", "pi"])(
  "a native restore of %s whose lines are not all there is stopped",
  async (id) => {
    const plan = await planOf(id, "tools", id)
    const withLines = (change: (lines: OutputLine[]) => OutputLine[]) =>
      plan.files.map((file, index) =>
        file.form === "log" && index === 0 ? { ...file, lines: change([...file.lines]) } : file,
      )
    await check(
      plan,
      withLines((lines) => lines),
    )
    for (const change of [
      (lines: OutputLine[]) => lines.slice(0, -1),
      (lines: OutputLine[]) => lines.toSpliced(2, 1),
      (lines: OutputLine[]) => [...lines, ...lines.slice(-1)],
      (lines: OutputLine[]) => [...lines, "{}"],
    ])
      await expect(check(plan, withLines(change))).rejects.toMatchObject({ code: "internal" })
  },
)

test("a native restore whose message would say something else is stopped, whatever its lines say", async () => {
  const plan = await planOf("claude-code", "tools", "claude-code")
  if (plan.proof.fidelity !== "native") throw new Error("foreign")
  const [written, ...others] = plan.proof.written
  if (written === undefined) throw new Error("nothing")
  const [id = ""] = [...written.bodies.keys()].slice(-3)
  const bodies = new Map([...written.bodies, [id, 1]])
  const changedPlan = { ...plan, proof: { ...plan.proof, written: [{ ...written, bodies }, ...others] } }
  await expect(check(changedPlan)).rejects.toMatchObject({ details: { difference: expect.stringContaining(id) } })
})

// --- Effort ------------------------------------------------------------------------------------------------------------

function counting<T extends object>(value: T, count: () => void): T {
  return new Proxy(value, {
    get: (target, key) => {
      count()
      return Reflect.get(target, key)
    },
  })
}

/** How often a check looks at a message of a session that has so many. */
async function looksAt(messages: number, target: Adapter): Promise<number> {
  using temp = tempFolder()
  const lines = Array.from({ length: messages }, (_, index) =>
    JSON.stringify({
      ...{ type: "user", uuid: `0c1d2e3f-1111-4222-8333-${String(index).padStart(12, "0")}`, sessionId: LONG },
      ...{ cwd: "/garden", version: "2.1.0", timestamp: "2026-05-01T00:00:00.000Z" },
      message: { role: "user", content: `line ${index}` },
    }),
  )
  await Bun.write(join(temp.path, "told/projects/-garden", `${LONG}.jsonl`), `${lines.join("\n")}\n`)
  const claude = ADAPTERS.find(({ id }) => id === "claude-code") as Adapter
  const told = await logsOf(claude, join(temp.path, "told"))
  const { files } = await planned(told, told.get(LONG) as SessionLog, target)
  const folder = join(temp.path, "kept")
  await writeDraft(realFiles, folder, files, async (path, file) => writeForeignRows(path, file).backups)
  const logs = await logsOf(target, folder)
  const [log] = logs.values() as IterableIterator<SessionLog>
  let looks = 0
  const entries = log?.entries.map((entry) => ({ ...entry, message: counting(entry.message, () => looks++) }) as Entry)
  const plan = await planned(logs, { ...log, entries } as SessionLog, target)
  expect(plan.fidelity).toBe("native")
  await check(plan)
  return looks
}

const LONG = "7a5e8f2c-7a94-4c1d-9e0f-3d2a6b8c4e10"

test.each([...WRITTEN].map((adapter) => [adapter.id, adapter] as const))(
  "what it takes to check a session of %s follows its length",
  async (_, target) => {
    const [short, long] = [await looksAt(50, target), await looksAt(200, target)]
    expect(short).toBeGreaterThan(100)
    expect(long / short).toBeLessThan(5)
  },
)
