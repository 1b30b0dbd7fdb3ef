/**
 * The clients of this machine as pond sees them: which are there, where their sessions lie, and which of them pond leaves
 * alone because it was told to.
 */
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import type { Adapter, SourceFile } from "../../adapters/adapter.ts"
import { judgedOn } from "../../adapters/judged-on.ts"
import { ADAPTERS, adapterById } from "../../adapters/registry.ts"
import { PondError } from "../../model/errors.ts"
import type { Environment } from "../../platform/host/environment.ts"
import { suggestion } from "../../platform/nearest.ts"
import { packageVersion } from "../../platform/process/package-version.ts"
import { findProgram } from "../../platform/process/programs.ts"
import type { Pond } from "../pond.ts"
import { changeConfig } from "./config-file.ts"

export interface Client {
  readonly adapter: string
  readonly title: string
  readonly enabled: boolean
  /** Where its program is, for a user who types its name. */
  readonly program: string | null
  /** By what its package manager wrote beside it. Nothing where it came as one file, which says no version unless it is run. */
  readonly installed_version: string | null
  readonly roots: readonly { readonly path: string; readonly exists: boolean }[]
  /** Whether anything of it is on this machine. */
  readonly found: boolean
  readonly verified_versions: { readonly from: string; readonly to: string }
  /** See `Judgement`. */
  readonly judged_by: string
  /** The day on which its newest version was. */
  readonly judged_on: string
  /** Whether sessions of other clients can be converted into it. */
  readonly converts: boolean
  readonly mcp: boolean
}

export interface Discovered extends Client {
  readonly sessions: number
  readonly bytes: number
  /** The newest change of any of its sessions. */
  readonly newest: string | null
  readonly faults: number
}

export function listClients(pond: Pond): Client[] {
  const disabled = disabledIds(pond)
  return ADAPTERS.map((adapter) => clientOf(pond, adapter, disabled))
}

/** Names and sizes of what lies there; opens no session. */
export async function discoverClients(pond: Pond, signal: AbortSignal): Promise<Discovered[]> {
  const found: Discovered[] = []
  for (const client of listClients(pond)) found.push({ ...client, ...(await contentsOf(client, signal)) })
  return found
}

export function disabledIds({ host }: Pond): readonly string[] {
  return host.settings().values.adapters.disabled
}

/** What a sync reads where no client is named. */
export function enabledAdapters(pond: Pond): readonly Adapter[] {
  const disabled = disabledIds(pond)
  return ADAPTERS.filter(({ id }) => !disabled.includes(id))
}

export function adapterNamed(id: string): Adapter {
  const adapter = adapterById(id)
  if (adapter !== undefined) return adapter
  const ids = ADAPTERS.map((known) => known.id)
  throw new PondError(
    "validation_failed",
    `Unknown client "${id}".${suggestion(id, ids)} Clients: ${ids.join(", ")}.`,
    { details: { adapter: id, adapters: ids } },
  )
}

export interface Switched {
  readonly file: string
  readonly changed: readonly string[]
  readonly disabled: readonly string[]
}

/** Writes the setting; ids that are no adapter any more stay as they are. */
export function switchClients(pond: Pond, ids: readonly string[], isEnabled: boolean): Switched {
  const asked = ids.map((id) => adapterNamed(id).id)
  const before = disabledIds(pond)
  const changed = [...new Set(asked)].filter((id) => before.includes(id) === isEnabled)
  const disabled = isEnabled ? before.filter((id) => !asked.includes(id)) : [...before, ...changed]
  const { path } = pond.host.settings().file
  if (changed.length > 0) changeConfig(pond, [{ key: ["adapters", "disabled"], value: disabled }])
  return { file: path, changed, disabled }
}

function clientOf({ host: { environment } }: Pond, adapter: Adapter, disabled: readonly string[]): Client {
  const roots = adapter.source
    .roots(environment, environment["HOME"] ?? homedir())
    .map((path) => ({ path, exists: existsSync(path) }))
  const program = programOf(adapter, environment) ?? null
  return {
    adapter: adapter.id,
    title: adapter.title,
    enabled: !disabled.includes(adapter.id),
    program,
    installed_version: installedVersion(adapter, environment) ?? null,
    roots,
    found: program !== null || roots.some(({ exists }) => exists),
    verified_versions: { from: adapter.judged.from, to: adapter.judged.to },
    judged_by: adapter.judged.by,
    judged_on: judgedOn(adapter.id),
    converts: adapter.serialize.foreign !== undefined,
    mcp: adapter.registration !== undefined,
  }
}

function programOf({ serialize }: Adapter, environment: Environment): string | undefined {
  const [name = ""] = serialize.resume("", "").command
  return name === "" || serialize.isGuest === true ? undefined : findProgram(name, environment)
}

export function installedVersion(adapter: Adapter, environment: Environment): string | undefined {
  const { packages } = adapter.judged
  const program = packages === undefined ? undefined : programOf(adapter, environment)
  return packages === undefined || program === undefined ? undefined : packageVersion(program, packages)
}

/** Of a database each of its sessions is a share; any other file is whole wherever it is met. */
function sizeWith({ form, sizeBytes }: SourceFile, before = 0): number {
  return form === "database" ? before + sizeBytes : sizeBytes
}

async function contentsOf({ adapter, roots }: Client, signal: AbortSignal) {
  const { source } = adapterNamed(adapter)
  const files = new Map<string, number>()
  let [sessions, newestMs, faults] = [0, 0, 0]
  for (const { path } of roots.filter(({ exists }) => exists)) {
    for await (const unit of source.plan(path)) {
      if (signal.aborted) throw new PondError("interrupted", "Interrupted. No changes made.")
      if (!("files" in unit)) {
        faults += unit.severity === "fault" ? 1 : 0
        continue
      }
      sessions++
      for (const file of unit.files) {
        files.set(file.path, sizeWith(file, files.get(file.path)))
        newestMs = Math.max(newestMs, file.modifiedMs)
      }
    }
  }
  const bytes = files.values().reduce((sum, size) => sum + size, 0)
  return { sessions, bytes, newest: newestMs === 0 ? null : new Date(newestMs).toISOString(), faults }
}
