/** `pond stats`, as a process, over the sessions of four clients. */
import { expect, test } from "bun:test"
import { homeOfClients } from "../support/clients-home.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

interface Row {
  readonly key: string
  readonly sessions: number
  readonly count: number
  readonly failures?: number
}

test("counts by each of its kinds agree with what is stored", async () => {
  using home = homeOfClients()
  const { env } = home
  await runPond(["sync", "-q"], { env })
  const ask = async (by: string, ...more: string[]) => {
    const ran = await runPond(["stats", "--by", by, "--json", ...more], { env })
    expect(ran.exitCode).toBe(0)
    return JSON.parse(ran.stdout) as { readonly rows: Row[]; readonly sessions: number; readonly count: number }
  }
  const sql = async (query: string) =>
    JSON.parse((await runPond(["sql", query, "--json"], { env })).stdout).rows as Record<string, unknown>[]
  const [day, agent, project, tool, model] = await Promise.all(
    ["day", "agent", "project", "tool", "model"].map((by) => ask(by)),
  )
  const [spoken] = await sql("SELECT count(*) AS n FROM messages WHERE role <> 'system'")
  expect([day?.count, agent?.count, project?.count]).toEqual([
    Number(spoken?.["n"]),
    Number(spoken?.["n"]),
    Number(spoken?.["n"]),
  ])
  expect([day, agent, project, model].map((answer) => answer?.sessions)).toEqual([4, 4, 4, 4])
  expect(agent?.rows.map(({ key }) => key).toSorted()).toEqual(["claude-code", "codex", "opencode", "pi"])
  const [calls] = await sql("SELECT count(*) AS n FROM parts WHERE type = 'tool_call'")
  const [failures] = await sql("SELECT count(*) AS n FROM parts WHERE type = 'tool_result' AND is_failure")
  expect(tool?.count).toBe(Number(calls?.["n"]))
  expect(Number(failures?.["n"])).toBeGreaterThan(0)
  expect(tool?.rows.reduce((sum, row) => sum + (row.failures ?? 0), 0)).toBe(Number(failures?.["n"]))
  expect(tool?.rows.map(({ key }) => key)).not.toContain("")
  expect(model?.rows.length).toBeGreaterThan(1)
  expect((await ask("day", "--to", "2001-01-01")).rows).toEqual([])
  const first = day?.rows[0]?.key ?? ""
  expect((await ask("day", "--from", first, "--to", first)).count).toBe(day?.rows[0]?.count ?? -1)
}, 90_000)

test("what is asked wrongly is one line, and an empty store says what to do", async () => {
  using home = temporaryHome()
  const { env } = home
  const [empty, by, date, word] = await Promise.all([
    runPond(["stats"], { env }),
    runPond(["stats", "--by", "moon"], { env }),
    runPond(["stats", "--from", "soon"], { env }),
    runPond(["stats", "today"], { env }),
  ])
  expect(empty).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("`pond sync` stores new sessions") })
  expect(by).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--by must be one of day, project, client, tool, model"),
  })
  expect(date).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('"soon" is not a date') })
  expect(word).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("Unexpected argument") })
}, 60_000)
