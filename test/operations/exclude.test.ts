/** Excluded projects stay out of the store, whatever brings them, and come in again once they are not excluded. */
import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { exportArchive } from "../../src/archive/export.ts"
import { importArchive } from "../../src/archive/import.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { openSessions } from "../../src/sessions/store.ts"
import { excludesOf } from "../../src/sessions/write/exclusions.ts"
import { said, session, testSessions } from "../sessions/support.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

test("a directory excludes what is below it, a pattern what it matches, and a text what contains it", () => {
  const check = (pattern: string, project: string, want: boolean) =>
    expect({ pattern, project, is: excludesOf([pattern])(project) }).toEqual({ pattern, project, is: want })
  check("/work/acme", "/work/acme", true)
  check("/work/acme", "/work/acme/api", true)
  check("/work/acme/", "/work/acme/api", true)
  check("/work/acme", "/work/acme-next", false)
  check("/work/*/secret", "/work/x/secret", true)
  check("/work/*/secret", "/work/x/y/secret", false)
  check("**/secret-*", "/a/b/secret-1", true)
  check("ACME", "/work/Acme-next", true)
  check("acme", "/work/other", false)
  expect(excludesOf([])("/anything")).toBe(false)
})

test("a write, and an import into a store that has nothing or something, leave them out and say so", async () => {
  const work = { signal: new AbortController().signal, onStage: () => undefined, onRows: () => undefined }
  using source = testSessions()
  const batches = [
    { session: session("out", { project: "/work/acme/api" }), entries: [said("out", 0, "secret plan")] },
    { session: session("in", { project: "/work/open" }), entries: [said("in", 0, "open plan")] },
  ]
  await source.sessions.write(batches)
  const file = join(source.path, "all.pond")
  const request = { path: file, isForced: false, filter: undefined }
  await exportArchive(source.sessions.store, request, { ...work, clock: systemClock })
  for (const isFilled of [false, true]) {
    using place = testSessions()
    const { store } = place.sessions
    const excluding = openSessions(store, { clock: systemClock, host: "test", excludes: excludesOf(["/work/acme"]) })
    if (isFilled) {
      const written = await excluding.write(batches)
      expect(written.map(({ sessionId, status }) => [sessionId, status])).toEqual([
        ["in", "stored"],
        ["out", "excluded"],
      ])
    }
    const imported = await importArchive(excluding, { path: file, isDryRun: false }, work)
    expect(imported).toMatchObject({ excluded: ["out"], inserted: { sessions: isFilled ? 0 : 1 } })
    expect(await excluding.counts()).toMatchObject({ sessions: 1, messages: 1, parts: 1 })
  }
})

test("a sync leaves them out until they are not excluded any more, and reads nothing twice meanwhile", async () => {
  using home = temporaryHome()
  const { env } = home
  const projects = join(home.path, ".claude/projects")
  for (const [name, at] of [
    ["acme", 1],
    ["open", 2],
  ] as const) {
    const id = `00000000-0000-4000-8000-00000000000${at}`
    const message = { role: "user", content: `a plan for ${name}` }
    const fixed = { parentUuid: null, isSidechain: false, userType: "external", version: "2.1.0", gitBranch: "main" }
    const line = {
      ...fixed,
      cwd: `/work/${name}`,
      sessionId: id,
      type: "user",
      message,
      uuid: id,
      timestamp: "2026-01-31T12:00:00.000Z",
    }
    mkdirSync(join(projects, `-work-${name}`), { recursive: true })
    writeFileSync(join(projects, `-work-${name}`, `${id}.jsonl`), `${JSON.stringify(line)}\n`)
  }
  const run = async (...words: string[]) => JSON.parse((await runPond([...words, "--json"], { env })).stdout)
  const listed = async () => (await run("list")).sessions.map((each: { project: string }) => each.project).toSorted()
  const synced = async () => (await run("sync")).adapters[0].sessions
  expect(await run("exclude", "add", "/work/acme")).toMatchObject({ excluded: ["/work/acme"], stored: [] })
  expect(await synced()).toMatchObject({ new: 1, excluded: 1 })
  expect(await synced()).toMatchObject({ new: 0, excluded: 0, unchanged: 2 })
  expect(await listed()).toEqual(["/work/open"])
  expect((await runPond(["exclude", "remove", "/work/other"], { env })).exitCode).toBe(3)
  expect(await run("exclude", "remove", "/work/acme")).toMatchObject({ excluded: [] })
  expect(await synced()).toMatchObject({ new: 1, excluded: 0 })
  expect(await listed()).toEqual(["/work/acme", "/work/open"])
  const [{ session_id: stored }] = (await run("list", "--project", "acme")).sessions
  expect(await run("exclude", "add", "acme")).toMatchObject({ stored: [stored] })
  expect(await run("exclude", "list")).toMatchObject({ excluded: ["acme"] })
  const printed = async (project: string) => (await runPond(["exclude", "add", project], { env })).stdout
  expect(await printed("/work/new")).toStartWith("Excluded in ")
  expect(await printed("/work/new")).toStartWith("No changes: already excluded.")
}, 60_000)
