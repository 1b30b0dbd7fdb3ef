/** The token that a server on a port asks for: made once for each user, and kept in a file that its owner alone can read. */
import { linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PondError } from "../model/errors.ts"
import type { Host } from "../platform/host/host.ts"
import { ensureWritable } from "../platform/host/paths.ts"
import { isSystemError } from "../platform/system-error.ts"

export interface Token {
  readonly value: string
  readonly path: string
  /** Made just now, so that nobody has seen it yet. */
  readonly isNew: boolean
}

const TOKEN_BYTES = 32
const FORM = /^[\w-]{43}$/

export function openToken(host: Host): Token {
  const path = join(ensureWritable(host.path("state")), "token")
  const isNew = makeToken(path)
  return { value: readToken(path), path, isNew }
}

/** Whole or not at all: of two servers that start at once the second takes the token of the first. */
function makeToken(path: string): boolean {
  const draft = `${path}.${process.pid}`
  const value = crypto
    .getRandomValues(new Uint8Array(TOKEN_BYTES))
    .toBase64({ alphabet: "base64url", omitPadding: true })
  writeFileSync(draft, `${value}\n`, { mode: 0o600 })
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function readToken(path: string): string {
  const found = lstatSync(path)
  const isOwn = found.isFile() && found.uid === (process.getuid?.() ?? found.uid) && (found.mode & 0o077) === 0
  const value = isOwn ? readFileSync(path, "utf8").trim() : ""
  if (FORM.test(value)) return value
  throw new PondError(
    "storage_unavailable",
    `${path} is not a token that only you can read. Remove it: pond serve makes a new one.`,
    { details: { path } },
  )
}
