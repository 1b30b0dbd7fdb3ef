/**
 * Sessions are played, stored and restored: everything up to the moment at which a client is asked. pond runs from source, in a
 * process of its own, as a person runs it.
 */
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { adapterById } from "../../src/adapters/registry.ts"
import type { Client } from "../../test/clients/client.ts"
import { fixtureOf } from "../../test/clients/generations.ts"
import type { Place } from "../../test/clients/place.ts"
import { type Expected, type ExpectedSession, produce } from "../../test/clients/produce.ts"
import { REPOSITORY } from "../../test/clients/run.ts"
import type { Options } from "./options.ts"

/** What a sync ends with that has said what is broken in its sources. */
const NOT_WHOLE = 4
const WOULD_OVERWRITE = 8

/** Sessions as they lie somewhere, and what each must say. */
export interface Held {
  readonly scenario: string
  readonly root: string
  readonly sessions: Expected["sessions"]
}

export interface Restored {
  readonly place: Place
  readonly client: Client
  readonly target: Client
  readonly scenario: string
  readonly scratch: string
  readonly store: string
  readonly session: string
  readonly expected: ExpectedSession
  readonly isAnew: boolean
  readonly options: Options
}

/** As `pond restore --json` says it. */
export interface RestoreReport {
  /** The id that the target knows the session by. */
  readonly session_id: string
  readonly outdated: boolean
  readonly losses: readonly { readonly kind: string; readonly count: number }[]
}

export function playScenario(place: Place, client: Client, scenario: string): Held {
  const home = produce(place, client, scenario)
  const { sessions } = JSON.parse(readFileSync(join(home, "expected.json"), "utf8")) as Expected
  return { scenario, root: join(home, client.folder), sessions }
}

/** Their directories are of no machine: they go on in one that is there. */
export async function openFixture({ alpha }: Place, client: Client, scenario: string): Promise<Held> {
  const { root, conversations } = await fixtureOf(client, scenario)
  const sessions = [...conversations].map(([id, held]) => [id, { cwd: alpha, ...held }] as const)
  return { scenario, root, sessions: Object.fromEntries(sessions) }
}

export function syncInto(scratch: string, client: Client, root: string, options: Options): string {
  const store = join(scratch, "store")
  const { code, said, complaints } = spawnPond(scratch, store, ["sync", client.adapter, "--path", root])
  // Some fixtures are damaged, which a sync says.
  if (code !== 0 && !(options.fixtures && code === NOT_WHOLE))
    throw new Error(`pond sync ended with ${code}: ${complaints}${said}`)
  if (!options.archived) return store
  const [archive, other] = [join(scratch, "all.pond"), join(scratch, "other")]
  pond(scratch, store, ["export", "-o", archive])
  pond(scratch, other, ["import", archive])
  return other
}

export function homeFor({ scratch, target }: Restored): string {
  const home = mkdtempSync(join(scratch, "home-"))
  mkdirSync(join(home, target.folder), { recursive: true })
  return home
}

export function restoreInto(restored: Restored, home: string, session: string, more: readonly string[]): RestoreReport {
  const { scratch, store } = restored
  return JSON.parse(pond(scratch, store, wordsOf(restored, home, session, more))) as RestoreReport
}

/** Rows that a database has already are written over nothing. */
export function expectRefusal(restored: Restored, home: string, session: string, more: readonly string[]): void {
  const { code, said, complaints } = spawnPond(restored.scratch, restored.store, wordsOf(restored, home, session, more))
  const isDatabase = adapterById(restored.target.adapter)?.database !== undefined
  if (code !== (isDatabase ? 0 : WOULD_OVERWRITE))
    throw new Error(`A second restore ended with ${code}: ${complaints}${said}`)
}

function wordsOf(
  { target, isAnew, options }: Restored,
  home: string,
  session: string,
  more: readonly string[],
): string[] {
  const where = ["--to", target.adapter, "--root", join(home, target.folder)]
  const how = [...(isAnew ? ["--anew"] : []), "--reasoning", options.reasoning, "--json"]
  return ["restore", session, ...where, ...more, ...how]
}

export function pond(scratch: string, store: string, words: readonly string[]): string {
  const { code, said, complaints } = spawnPond(scratch, store, words)
  if (code === 0) return said
  throw new Error(`pond ${words[0]} ended with ${code}: ${complaints}${said}`)
}

function spawnPond(scratch: string, store: string, words: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [process.execPath, join(REPOSITORY, "src/main.ts"), ...words, "--store", store],
    { env: { PATH: process.env["PATH"] ?? "", HOME: scratch, TMPDIR: tmpdir() }, stderr: "pipe" },
  )
  return { code: exitCode, said: stdout.toString(), complaints: stderr.toString() }
}
