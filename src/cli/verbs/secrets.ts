/** `pond secrets`: where stored sessions contain credentials. It never prints one. */
import { counted, countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { perform } from "../../operations/operation.ts"
import type { Secrets } from "../../operations/store/secrets.ts"
import { secrets as operation } from "../../operations/store/store-operations.ts"
import { flag } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Page } from "../verb.ts"

const ROWS_DEFAULT = 30

const args = argumentsFor(operation.input, {
  session: { field: ["session_id"], hint: "ID", words: "sessions" },
  project: {},
  limit: flag.wholeNumber(`Maximum number of rows to show (default: ${ROWS_DEFAULT}). --json has all.`, { min: 1 }),
})

export const secrets = defineVerb({
  flags: args.flags,
  positionals: [],
  examples: ["secrets", "secrets --project shop", "secrets --json"],
  run: async (context) => {
    const answer = await perform(operation, context, args.inputOf(context))
    const limit = context.flags.limit ?? ROWS_DEFAULT
    return { document: { ...answer }, render: (page) => renderSecrets(answer, limit, page) }
  },
})

const COLUMNS = [
  { title: "kind", isFixed: true },
  { title: "no.", isFixed: true, align: "right" },
  { title: "day", isFixed: true },
  { title: "client", isFixed: true },
  { title: "session" },
  { title: "message" },
] as const

function renderSecrets(
  { findings, secrets: count, sessions, kinds, not_searched }: Secrets,
  limit: number,
  { style, columns, prose }: Page,
): string {
  const apart = not_searched === 0 ? "" : ` ${counted(not_searched, "value")} of more than 4 MiB not searched.`
  if (findings.length === 0) return prose(`No credentials detected.${apart} Unusual ones can slip through.\n`)
  const rows = findings
    .slice(0, limit)
    .map(({ kind, secret, session_id, message_id, source_agent, timestamp }) => [
      kind,
      String(secret),
      timestamp.slice(0, 10),
      visibleLine(source_agent),
      visibleLine(session_id),
      visibleLine(message_id ?? ""),
    ])
  const more =
    findings.length > rows.length ? `, ${countText(findings.length - rows.length)} rows not shown (--limit)` : ""
  const sum = `${counted(count, "credential")} in ${counted(sessions, "session")}${more}: ${kinds.map((each) => `${each.secrets} × ${each.kind}`).join(", ")}.`
  const next =
    "Revoke them where they were issued: the client's own files have them too. `pond get SESSION --redact` shares a session without them, `pond erase --secrets` erases the sessions that have one."
  return `${renderTable(COLUMNS, rows, { columns, head: style.bold })}\n${prose(sum)}\n${style.dim(prose(`${next}${apart}`))}\n`
}
