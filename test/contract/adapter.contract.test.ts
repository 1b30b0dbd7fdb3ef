/** The laws of `src/adapters/adapter.ts`, over the fixtures of every adapter. What is here holds for the next adapter too. */
import { expect, test } from "bun:test"
import { Value } from "typebox/value"
import type { Adapter, ResumePoint } from "../../src/adapters/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { groupIssues } from "../../src/model/report.ts"
import { Message, Part, partsAllowed, Session, type SessionLog, sessionFault } from "../../src/model/session.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { foreignFiles, nativeFiles } from "../../src/restore/output-files.ts"
import { verify } from "../../src/restore/verify.ts"
import { conversationOf, type Fixture, fixturesOf, logsOf, parseUnit, unitsOf } from "./fixtures.ts"
import { frozen, withoutChance } from "./purity.ts"
import { wireDifferences } from "./wire.ts"

for (const adapter of ADAPTERS) {
  const fixtures = fixturesOf(adapter)

  // An adapter without fixtures proves nothing here: what it still lacks is said aloud in the list of tests.
  const hasFixtures = fixtures.length === 0 ? test.todo : test
  hasFixtures(`${adapter.id} has fixtures`, () => {
    expect(fixtures.length).toBeGreaterThan(3)
  })

  for (const fixture of fixtures) {
    const about = `${adapter.id}: ${fixture.name}`
    test(`${about}: every record comes back, equal by value and in order (law 2)`, () => roundTrips(adapter, fixture))
    test(`${about}: reading on gives what reading at once gives (law 3)`, () => resumes(adapter, fixture))
    test(`${about}: what is parsed is canonical, and the session comes first`, () => isCanonical(adapter, fixture))
    test(`${about}: the same input gives the same output, and stays as it was (law 5)`, () => isPure(adapter, fixture))
    if (Object.keys(fixture.expected).length > 0)
      test(`${about}: the live conversation is the one that the client sent`, () => isOnTheWire(adapter, fixture))
  }
}

async function roundTrips(adapter: Adapter, { root, issues }: Fixture): Promise<void> {
  const context = { clock: systemClock, signal: new AbortController().signal }
  const [report] = await verify({ sources: [{ adapter, root }] }, context)
  expect(report?.mismatches).toEqual([])
  expect(report?.records).toBeGreaterThan(0)
  expect(Object.fromEntries((report?.issues ?? []).map(({ kind, count }) => [kind, count]))).toEqual({ ...issues })
}

/** At every record of a short log, and at forty places of a long one. */
async function resumes(adapter: Adapter, { root }: Fixture): Promise<void> {
  let splits = 0
  const units = await unitsOf(adapter, root)
  // By the form of its file the source says that there is no middle to read on from.
  if (units.every(({ unit }) => unit.files.length === 1 && unit.files[0]?.form === "document")) return
  if (units.every(({ unit }) => unit.files.every(({ form }) => form === "text"))) return
  for (const { unit, records } of units) {
    const whole = parseUnit(adapter, unit, records)
    expect(parseUnit(adapter, unit, records, { isAsked: true }), "asked on the way").toEqual(whole)
    const step = Math.max(1, Math.floor(records.length / 40))
    for (let at = 1; at < records.length; at += step) {
      const first = parseUnit(adapter, unit, records.slice(0, at))
      // Where the session has not shown itself yet there is nothing to go on from: the unit is read again.
      if (first.session === undefined) continue
      const point: ResumePoint = {
        session: first.session,
        nextOrdinal: first.entries.length,
        seen: new Set(first.entries.map(({ message }) => message.id)),
        state: JSON.parse(JSON.stringify(first.end.state)),
      }
      const rest = parseUnit(adapter, unit, records.slice(at), { resume: point })
      expect([...first.entries, ...rest.entries], `split behind record ${at}`).toEqual([...whole.entries])
      expect(rest.order).not.toContain("session")
      splits++
    }
  }
  expect(splits).toBeGreaterThan(0)
}

async function isCanonical(adapter: Adapter, { root }: Fixture): Promise<void> {
  for (const { unit, records } of await unitsOf(adapter, root)) {
    const { session, entries, order } = parseUnit(adapter, unit, records)
    if (session === undefined) throw new Error(`no session in ${unit.key}`)
    expect(order).toEqual(["session", ...entries.map(() => "entry" as const)])
    expect(Value.Check(Session, session) ? [] : [...Value.Errors(Session, session)]).toEqual([])
    expect(sessionFault(session)).toBeUndefined()
    expect(session.source_agent.split("/")[0]).toBe(adapter.id)
    expect(entries.map(({ message }) => message.ordinal)).toEqual([...entries.keys()])
    expect(new Set(entries.map(({ message }) => message.id)).size).toBe(entries.length)
    for (const { message, parts } of entries) {
      expect(Value.Check(Message, message) ? [] : [...Value.Errors(Message, message)]).toEqual([])
      expect(partsAllowed(message.role, parts)).toBe(true)
      expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length)
      for (const part of parts) {
        expect(Value.Check(Part, part) ? [] : [...Value.Errors(Part, part)]).toEqual([])
        expect(part).toMatchObject({ session_id: session.id, message_id: message.id })
      }
    }
  }
}

async function isPure(adapter: Adapter, { root }: Fixture): Promise<void> {
  const units = await unitsOf(adapter, root)
  const target = { cwd: "/elsewhere", reasoning: "keep" as const }
  const run = () =>
    units.map(({ unit, records }) => {
      const { session, entries, issues, end } = parseUnit(adapter, unit, records)
      if (session === undefined) throw new Error(`no session in ${unit.key}`)
      const log = frozen<SessionLog>({ session, entries })
      const live = adapter.context(log, [])
      const foreign = foreignFiles(adapter, { session, entries: live, children: [] }, target)
      return { log, issues: groupIssues(issues), end, live, native: nativeFiles(adapter, log), foreign }
    })
  const [first, calls] = withoutChance(run)
  expect(calls).toEqual([])
  expect(run()).toEqual(first)
}

async function isOnTheWire(adapter: Adapter, { root, expected }: Fixture): Promise<void> {
  const logs = await logsOf(adapter, root)
  for (const [id, items] of Object.entries(expected))
    expect(wireDifferences(conversationOf(adapter, logs, id), items)).toEqual([])
}
