/** `pond verify`: what a native restore would write, against what lies there. */

import { bytesText, countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { verify as operation } from "../../operations/machine/restore-operations.ts"
import { type Verification, type VerifyHooks, verifyExitCode } from "../../operations/machine/verify.ts"
import { perform } from "../../operations/operation.ts"
import { argumentsFor } from "../operation-arguments.ts"
import type { Style } from "../render/style.ts"
import { issueLine, NO_SOURCES } from "../render/sync-text.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Page } from "../verb.ts"

/** More are in the JSON document. */
const SHOWN_MISMATCHES = 20

const args = argumentsFor(
  operation.input,
  { path: { hint: "DIR" }, session: { hint: "ID", words: "sessions" }, "through-store": {}, "against-store": {} },
  [{ field: "adapters", name: "client", words: "adapters", summary: "The clients to verify (default: all)." }],
)

export const verify = defineVerb({
  flags: args.flags,
  positionals: args.positionals,
  examples: [
    "verify",
    "verify claude-code --through-store",
    "verify --against-store",
    "verify pi --path ~/backup/pi-sessions",
  ],
  run: async (context) => {
    const { pond, progress, signal } = context
    const hooks: VerifyHooks = {
      signal,
      onPlan: ({ adapter }, bytes) => progress.stage(adapter.id, "bytes", bytes),
      onProgress: (bytes, unit) => progress.at(bytes, unit),
    }
    const verification = await perform(operation, { pond, ...hooks }, args.inputOf(context))
    return {
      document: { ...verification },
      exitCode: verifyExitCode(verification),
      render: (page) => renderVerification(verification, page),
    }
  },
})

type Source = Verification["adapters"][number]

function renderVerification({ adapters, ok }: Verification, { style, columns, prose }: Page): string {
  if (adapters.length === 0) return NO_SOURCES
  const rows = adapters.map(({ adapter, sessions, files, records, bytes, mismatches, ms }) => [
    adapter,
    countText(sessions),
    countText(files),
    countText(records),
    countText(mismatches.length),
    bytesText(bytes),
    `${(ms / 1000).toFixed(1)} s`,
  ])
  const titles = ["client", "sessions", "files", "records", "mismatches", "read", "time"]
  const shape = titles.map((title, index) => ({
    title,
    isFixed: true,
    align: index === 0 ? ("left" as const) : ("right" as const),
  }))
  const lacking = adapters.some(({ missing }) => missing.length > 0)
  const next = lacking ? " Run `pond sync` to store what is missing." : ""
  const isEmpty = adapters.every(({ sessions }) => sessions === 0)
  const proved = isEmpty
    ? style.bold("No session was found, so nothing is proved.\n")
    : style.green("Every record of every session can be restored exactly.\n")
  const verdict = ok ? proved : style.red(`Some records cannot be restored exactly.${next}\n`)
  return [
    renderTable(shape, rows, { columns, head: style.bold }),
    ...adapters.flatMap((source) => remarks(source, style)).map((each) => prose(each)),
    verdict,
  ].join("")
}

function remarks(source: Source, style: Style): string[] {
  const { adapter, mismatches, missing, issues } = source
  const lacking = missing
    .slice(0, SHOWN_MISMATCHES)
    .map((id) => `${style.red("missing")}  ${adapter} ${visibleLine(id)}: not in the store\n`)
  const shown = mismatches.slice(0, SHOWN_MISMATCHES).map((mismatch) => {
    const { session, file, record, pointer, expected, got } = mismatch
    const place = visibleLine(`${file}:${record} ${pointer === "" ? "(whole record)" : `at ${pointer}`}`)
    const values = `expected ${visibleLine(expected ?? "nothing")}, got ${visibleLine(got ?? "nothing")}`
    return `${style.red("differs")}  ${adapter} ${visibleLine(session)}: ${place} ${values}\n`
  })
  const hidden = mismatches.length + missing.length - shown.length - lacking.length
  const more = hidden > 0 ? [`${countText(hidden)} more: run again with --json.\n`] : []
  return [...lacking, ...shown, ...more, ...issues.map((group) => issueLine(adapter, group, style))]
}
