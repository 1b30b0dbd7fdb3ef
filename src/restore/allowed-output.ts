/**
 * What may be written of a session: paths and ids of the forms that its client has (`OutputForms`). A session may come from
 * anybody, and beside its sessions a client keeps what it obeys: a session named `commands` would plant a command.
 */
import { basename } from "node:path"
import type { Adapter, OutputFile } from "../adapters/adapter.ts"
import { PondError } from "../model/errors.ts"
import { sha256Of } from "../platform/sha256.ts"

interface Written {
  readonly target: Adapter
  readonly sessionId: string
  readonly fidelity: "native" | "foreign"
  readonly files: readonly OutputFile[]
  /** Written elsewhere first, to be read back. */
  readonly proof: Pick<Written, "files">
}

export function refuseForeignOutput({ target, sessionId, fidelity, files, proof }: Written): void {
  const instead = fidelity === "native" ? " `--anew` writes it as a new session." : ""
  if (!isAllowedId(target, sessionId)) {
    throw new PondError(
      "validation_failed",
      `"${sessionId}" is not a session id of ${target.title}, so nothing was written.${instead}`,
      { details: { session_id: sessionId } },
    )
  }
  for (const file of [...files, ...proof.files]) {
    const { relativePath } = file
    const isAllowed = isAllowedPath(target, relativePath)
    if (isAllowed && isNamedByContent(file)) continue
    const why = isAllowed
      ? `"${relativePath}" is not what its name says`
      : `${target.title} keeps no session at "${relativePath}"`
    throw new PondError("validation_failed", `${why}, so nothing was written.${instead}`, {
      details: { place: relativePath },
    })
  }
}

/** Other sessions take a shared file for what its name says, which is the SHA-256 of its content. */
function isNamedByContent(file: OutputFile): boolean {
  return file.form !== "bytes" || file.isShared !== true || sha256Of(file.bytes) === basename(file.relativePath)
}

export function isAllowedId({ output }: Pick<Adapter, "output">, sessionId: string): boolean {
  return !sessionId.startsWith("-") && output.sessionIds.test(sessionId)
}

export function isAllowedPath({ output }: Pick<Adapter, "output">, relativePath: string): boolean {
  if (/[\0\\]/.test(relativePath)) return false
  const hidden = output.hiddenFolder?.exec(relativePath)?.[0] ?? ""
  const names = relativePath.slice(hidden.length).split("/")
  const last = names.at(-1) ?? ""
  if (/\p{Cc}/u.test(last)) return false
  const isOwn = output.hiddenFile?.test(last) === true
  if ((isOwn ? names.slice(0, -1) : names).some(isObeyed)) return false
  return output.relativePaths.some((form) => form.test(relativePath))
}

/**
 * Read by agents that are started in the directory where they lie, and a session says in which directory it goes on:
 * instructions, and settings that name programs to start. Some disks fold case, and skip what cannot be seen.
 */
const OBEYED =
  /^(?:(?:claude|agents?|gemini|qwen|skill|context|crush|warp|kilo)(?:\.local|\.override)?|copilot-instructions)\.md$|^(?:opencode|kilo|crush)\.jsonc?$/iu

function isObeyed(name: string): boolean {
  const seen = name.normalize("NFC").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
  return seen === "" || seen.startsWith(".") || OBEYED.test(seen)
}
