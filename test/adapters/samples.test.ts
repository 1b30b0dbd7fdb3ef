import { expect, test } from "bun:test"
import { join } from "node:path"
import { adapterById } from "../../src/adapters/registry.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { verify } from "../../src/restore/verify.ts"

/** Real sessions are not part of this repository. Where a folder of them is at hand, all of them must come back whole. */
const SAMPLES = process.env["POND_SAMPLES"]

const PEERS = "peer-fixtures"

test.if(SAMPLES !== undefined).each([
  ["claude-code", 210, ["claude-code", `${PEERS}/claude_code`, `${PEERS}/claude_code/windows-projects`]],
  ["codex", 65, ["codex", `${PEERS}/codex_cli`]],
  ["opencode", 45, ["opencode", `${PEERS}/opencode`]],
  ["pi", 10, ["pi", `${PEERS}/pi-coding-agent`, `${PEERS}/oh-my-pi`]],
] as const)(
  "%s: every sample comes back whole",
  async (id, sessions, places) => {
    const adapter = adapterById(id)
    if (adapter === undefined) throw new Error(id)
    const sources = places.map((place) => ({ adapter, root: join(SAMPLES ?? "", place) }))
    const reports = await verify({ sources }, { clock: systemClock, signal: new AbortController().signal })
    expect(reports.map(({ mismatches }) => mismatches)).toEqual(places.map(() => []))
    expect(reports[0]?.sessions).toBeGreaterThan(sessions)
    for (const report of reports) expect(report.records, report.path).toBeGreaterThan(0)
  },
  120_000,
)
