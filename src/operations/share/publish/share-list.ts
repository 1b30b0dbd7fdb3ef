/**
 * What was shared from this machine, in a file of its state directory: without it nobody would know what to take back.
 * Links are kept without their signatures.
 */
import { join } from "node:path"
import { Type } from "typebox"
import { Value } from "typebox/value"
import { PondError } from "../../../model/errors.ts"
import { bytesOfFile, replaceFile } from "../../../platform/files/replace-file.ts"
import type { Host } from "../../../platform/host/host.ts"
import { Shared } from "./share-shapes.ts"

const SharedFile = Type.Object({ version: Type.Literal(1), shares: Type.Array(Shared) })

export function readShares(host: Host): readonly Shared[] {
  return sharesIn(host, bytesOfFile(shareListPath(host)))
}

export function addShare(host: Host, share: Shared): void {
  change(host, (shares) => [...shares, share])
}

export function removeShare(host: Host, id: string): void {
  change(host, (shares) => shares.filter((each) => each.id !== id))
}

function change(host: Host, work: (shares: readonly Shared[]) => readonly Shared[]): void {
  const path = shareListPath(host)
  const from = bytesOfFile(path)
  const text = `${JSON.stringify({ version: 1, shares: work(sharesIn(host, from)) }, null, 2)}\n`
  replaceFile({ path, from, text, keepsBackup: false })
}

function sharesIn(host: Host, bytes: Uint8Array | undefined): readonly Shared[] {
  if (bytes === undefined) return []
  const value: unknown = parsed(new TextDecoder().decode(bytes))
  if (Value.Check(SharedFile, value)) return value.shares
  // What was shared must not be forgotten in silence.
  throw new PondError(
    "validation_failed",
    `${shareListPath(host)} cannot be read: it lists what you shared. Move it away to start a new list.`,
    {
      details: { file: shareListPath(host) },
    },
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function shareListPath(host: Host): string {
  return join(host.path("state"), "shares.json")
}
