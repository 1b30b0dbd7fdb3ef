/**
 * The readable part of a local table: all of it, or what damage left intact. Names and sizes are looked at once; while
 * something is damaged they are looked at again whenever the table, or what checks have found, changes.
 */
import { join } from "node:path"
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { BucketUse } from "../bucket/gateway.ts"
import { isAsRecorded } from "../local/as-recorded.ts"
import { type Assessment, assessTable, DAMAGE_NOTE } from "../local/assess.ts"
import { describeDamage } from "../local/describe-damage.ts"
import { commitSignature, type LocalTable, OWN_FOLDER } from "../local/local-table.ts"
import { linkReadablePart } from "../local/readable-part.ts"
import type { TableDefinition } from "../table-definition.ts"
import type { Catalog } from "./catalog.ts"

export interface WholePart {
  /** Another object once what can be read has changed: a handle that was opened before shows something else. */
  state(): Promise<object | undefined>
  /** Whether all of the table can be read. */
  isAll(): boolean
  open(use?: BucketUse): Promise<LanceTable | undefined>
  /** Undefined where only an unacknowledged commit is damaged. */
  damage(): Promise<Assessment | undefined>
  /** Reads every file. Whether that has found more damage, which is left out from now on. */
  leaveOutDamaged(): Promise<boolean>
  /** Of a table that can be made again: where all of it is gone, forgets what it was. Whether that was so. */
  beginAnew(): Promise<boolean>
}

interface Assessed {
  /** Of the commits. */
  readonly table: string | undefined
  /** The state of the note in which checks leave what they found. */
  readonly note: string | undefined
  readonly damage: Assessment | undefined
  /** Of the part that can be read. */
  readonly folder: string | undefined
}

const UNDAMAGED = { damage: undefined, folder: undefined }

/** Of an object store that keeps no notes nothing is known. */
export function unknownPart(catalog: Catalog, definition: TableDefinition): WholePart {
  const no = () => Promise.resolve(false)
  return {
    state: () => Promise.resolve(undefined),
    isAll: () => true,
    open: (use) => catalog.open(definition, use),
    damage: () => Promise.resolve(undefined),
    leaveOutDamaged: no,
    beginAnew: no,
  }
}

export function localPart(catalog: Catalog, definition: TableDefinition, local: LocalTable): WholePart {
  let warned: string | undefined
  let assessed: Assessed | undefined

  async function assess(isDeep: boolean): Promise<Assessed> {
    const signatures = { table: commitSignature(local), note: noteSignature(local) }
    if (!isDeep && signatures.note === undefined && (await isAsRecorded(local))) return { ...signatures, ...UNDAMAGED }
    const found = await assessTable(local, { isDeep })
    if (found.damaged.length === 0) return { ...signatures, ...UNDAMAGED }
    const named = describeDamage(definition.name, found)
    if (named !== undefined && named !== warned) catalog.context.log.warn(`${named} Run \`pond repair\`.`)
    warned = named
    return { ...signatures, damage: found, folder: linkReadablePart(local, found) }
  }

  async function current(): Promise<Assessed> {
    if (assessed === undefined || isOutdated(assessed)) assessed = await assess(false)
    return assessed
  }

  function isOutdated({ table, note, damage }: Assessed): boolean {
    return note !== noteSignature(local) || (damage !== undefined && table !== commitSignature(local))
  }

  return {
    state: current,
    isAll: () => assessed?.damage === undefined,
    open: async () => {
      const { damage, folder } = await current()
      if (damage === undefined) return await catalog.open(definition)
      return folder === undefined ? undefined : await catalog.openAt(folder, definition)
    },
    damage: async () => {
      const { damage } = await current()
      return damage?.damaged.every(({ found }) => found === "unfinished") === true ? undefined : damage
    },
    leaveOutDamaged: async () => {
      const known = assessed?.damage?.damaged.length ?? 0
      const found = await assess(true)
      if ((found.damage?.damaged.length ?? 0) <= known) return false
      assessed = found
      return true
    },
    beginAnew: async () => {
      const isGone = (await current()).damage?.damaged.some(({ path }) => path === "") === true
      if (!isGone) return false
      await local.exclusively(async () => {
        for (const note of local.notes) await local.files.remove(note)
      })
      assessed = undefined
      return true
    },
  }
}

function noteSignature({ files, folder }: LocalTable): string | undefined {
  return files.statSignature(join(folder, "..", OWN_FOLDER, DAMAGE_NOTE))
}
