/**
 * The part of a table in a bucket that can be read. Its notes are looked at beside the opening of the table, once for all tables of
 * a process and again after a while: a version that was noted and is not there, or damage that a check has found. A file
 * that is missing or cut is met by the read itself. Only then is the table assessed.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import { PondError } from "../../model/errors.ts"
import type { Bucket, Look } from "../bucket/bucket.ts"
import type { BucketUse } from "../bucket/gateway.ts"
import { type Assessment, assessTable } from "../local/assess.ts"
import { describeDamage } from "../local/describe-damage.ts"
import type { TableDefinition } from "../table-definition.ts"
import type { Catalog } from "./catalog.ts"
import type { WholePart } from "./whole-part.ts"

interface Damaged {
  readonly damage: Assessment
  /** Of the part that can be read. */
  readonly folder: string | undefined
  /** Of the notes, as they were then. */
  readonly signature: string
}

export function bucketPart(catalog: Catalog, definition: TableDefinition, bucket: Bucket): WholePart {
  const { name } = definition
  const table = bucket.table(name)
  let isOpened = false
  let warned: string | undefined
  let damaged: Damaged | undefined

  const signatureOf = ({ hasDamage, newest }: Look) => `${hasDamage} ${newest.get(name)}`

  async function assess(isDeep: boolean): Promise<Damaged | undefined> {
    const signature = signatureOf(await bucket.look(true))
    const damage = await assessTable(table, { isDeep })
    if (damage.damaged.length === 0) return undefined
    const named = describeDamage(name, damage)
    if (named !== undefined && named !== warned) catalog.context.log.warn(`${named} Run \`pond repair\`.`)
    warned = named
    return { damage, folder: catalog.linkReadable(table, damage), signature }
  }

  /** The engine cannot open a table whose newest manifest is not whole. */
  async function openWhole(use?: BucketUse): Promise<LanceTable | undefined> {
    const looking = bucket.look()
    looking.catch(() => undefined) // thrown below
    const opened = await catalog.open(definition, use).catch(async (error: unknown) => {
      if (!isOfDamage(error)) throw error
      damaged = await assess(false)
      if (damaged === undefined) throw error
      return undefined
    })
    const look = await looking
    if (damaged === undefined && !(await isComplete(look, opened))) damaged = await assess(false)
    return opened
  }

  /** A commit between the two looks makes the table newer than it was opened. */
  async function isComplete({ hasDamage, newest }: Look, opened: LanceTable | undefined): Promise<boolean> {
    const noted = newest.get(name)
    if (hasDamage) return false
    if (noted === undefined) return true
    if (opened === undefined) return false
    if (BigInt(await opened.version()) >= noted) return true
    await opened.checkoutLatest()
    return BigInt(await opened.version()) >= noted
  }

  return {
    state: async () => {
      if (damaged !== undefined && damaged.signature !== signatureOf(await bucket.look(true))) damaged = undefined
      return damaged
    },
    isAll: () => damaged === undefined,
    open: async (use) => {
      isOpened = true
      const whole = damaged === undefined ? await openWhole(use) : undefined
      if (damaged === undefined) return whole
      whole?.close()
      return damaged.folder === undefined ? undefined : await catalog.openAt(damaged.folder, definition)
    },
    damage: async () => {
      if (!isOpened) {
        isOpened = true
        ;(await openWhole())?.close()
      }
      return damaged?.damage
    },
    leaveOutDamaged: async () => {
      const known = damaged?.damage.damaged.length ?? 0
      for (const isDeep of [false, true]) {
        const found = await assess(isDeep)
        if (found === undefined || found.damage.damaged.length <= known) continue
        damaged = found
        return true
      }
      return false
    },
    beginAnew: async () => {
      if (damaged?.damage.damaged.some(({ path }) => path === "") !== true) return false
      for (const note of await table.notePaths()) await bucket.files.remove(note)
      damaged = undefined
      return true
    },
  }
}

/** The engine reports a file that is not whole as damaged, or as something that it does not know. */
export function isOfDamage(error: unknown): boolean {
  if (!(error instanceof PondError)) return false
  return error.code === "internal" || error.details?.["failure"] === "damaged"
}
