/** The help topic `errors`: every code, from the table that all surfaces share. */
import { ERROR_TABLE } from "../../model/errors.ts"

export function errorsText(): string {
  const rows = Object.entries(ERROR_TABLE).map(
    ([code, { exit, http }]) =>
      `  ${String(exit).padStart(3)}  ${String(http)}  ${code.padEnd(20)} ${MEANINGS[code as keyof typeof ERROR_TABLE]}\n`,
  )
  return `Every error has one name: as the exit code of a verb, the status over HTTP and
the code in \`--json\`.

 exit http  code
${rows.join("")}    0       done
    4       done, with problems: each one is listed

The message says what to do next, and \`-v\` shows the cause. \`pond doctor\` checks
this machine and fixes what it can.

  pond doctor --fix
`
}

const MEANINGS: Readonly<Record<keyof typeof ERROR_TABLE, string>> = {
  validation_failed: "the request, a flag or a setting is invalid",
  version_unsupported: "the other side uses another version",
  not_found: "no such id or path",
  namespace_unknown: "this namespace does not exist",
  unauthorized: "the token of the server is missing or wrong",
  storage_unavailable: "the store or a file cannot be read or written",
  conflict: "another process is using it; try again",
  would_overwrite: "it already exists; --force replaces it",
  interrupted: "stopped; finished work is kept",
  internal: "a bug in pond: please report it",
}
