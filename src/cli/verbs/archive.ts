/** `pond export`, `pond import`, `pond copy`: what is stored, as one file or in another store. */
import { bytesText, counted, countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { perform } from "../../operations/operation.ts"
import { type CopyOutcome, type ImportOutcome, wholeExitCode } from "../../operations/store/archive.ts"
import { copy as copyStore, exportFile, importFile } from "../../operations/store/store-operations.ts"
import type { Flags } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import type { Style } from "../render/style.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Page, type VerbContext } from "../verb.ts"

const ROLES = ["sessions", "messages", "parts", "embeddings", "blobs"] as const
const ROWS = [...ROLES, "labels"] as const

const exportArguments = argumentsFor(exportFile.input, {
  output: { short: "o", hint: "FILE.pond" },
  session: { hint: "ID", words: "sessions" },
  project: {},
  agent: { hint: "NAME", words: "adapters" },
  from: { hint: "DATE", day: "start" },
  to: { hint: "DATE", day: "end" },
  force: {},
})

export const exportVerb = defineVerb({
  flags: exportArguments.flags,
  positionals: [],
  examples: [
    "export -o all.pond",
    "export -o shop.pond --project shop --from 2026-01-01",
    "export -o one.pond --session SESSION",
  ],
  run: async (context) => {
    const report = await perform(exportFile, workOf(context), exportArguments.inputOf(context))
    return {
      document: { ...report },
      render: ({ style, path }) =>
        `Exported ${tallyText(report)} to ${path(report.path)}: ${bytesText(report.bytes)}.\n${style.dim(`sha256 ${report.sha256}`)}\n`,
    }
  },
})

const importArguments = argumentsFor(importFile.input, { "dry-run": {} }, [{ field: "file", isFile: true }])

export const importVerb = defineVerb({
  flags: importArguments.flags,
  positionals: importArguments.positionals,
  examples: ["import all.pond", "import all.pond --dry-run", "import all.pond --store s3://bucket/pond"],
  run: async (context) => {
    const outcome = await perform(importFile, workOf(context), importArguments.inputOf(context))
    return {
      document: { ...outcome },
      exitCode: wholeExitCode(outcome),
      render: (page) => renderImport(outcome, page),
    }
  },
})

const copyArguments = argumentsFor(copyStore.input, {
  from: { hint: "URL" },
  to: { hint: "URL" },
  "verify-only": {},
  full: {},
})

export const copy = defineVerb({
  flags: copyArguments.flags,
  positionals: [],
  examples: ["copy --to s3://bucket/pond", "copy --from s3://bucket/pond --to /mnt/backup/pond --verify-only"],
  run: async (context) => {
    const outcome = await perform(copyStore, workOf(context), copyArguments.inputOf(context))
    return {
      document: { ...outcome },
      exitCode: wholeExitCode(outcome),
      render: (page) => renderCopy(outcome, context.flags["verify-only"], page),
    }
  },
})

function workOf({ pond, signal, progress }: Pick<VerbContext<Flags>, "pond" | "signal" | "progress">) {
  return {
    pond,
    signal,
    onStage: (name: string, rows: number | undefined) => progress.stage(name, "rows", rows),
    onRows: (rows: number) => progress.at(rows),
  }
}

function tallyText(tally: Readonly<Record<(typeof ROWS)[number], number>>): string {
  const parts = ROWS.filter((role) => tally[role] > 0).map((role) => counted(tally[role], role.slice(0, -1)))
  return parts.join(", ")
}

const RIGHT = { align: "right", isFixed: true } as const

function renderImport(outcome: ImportOutcome, page: Page): string {
  const rows = ROWS.filter((role) => outcome[role].new + outcome[role].present > 0).map((role) => [
    role,
    countText(outcome[role].new),
    countText(outcome[role].present),
  ])
  const table = renderTable(
    [
      { title: "", isFixed: true },
      { title: "new", ...RIGHT },
      { title: "already stored", ...RIGHT },
    ],
    rows,
    { columns: page.columns, head: page.style.bold },
  )
  const took = `${(outcome.ms / 1000).toFixed(1)} s, plus ${(outcome.index_ms / 1000).toFixed(1)} s for indexes`
  const verdict = outcome.dry_run ? "The file is intact. Dry run: nothing was stored.\n" : page.style.dim(`${took}\n`)
  return `${table}${conflicts(outcome, page.style)}${refusals(outcome, page.style)}${verdict}`
}

function renderCopy(outcome: CopyOutcome, isVerifyOnly: boolean, { style, columns }: Page): string {
  const { copied, present, missing: lacking, different, extra, labels, ok, examples } = outcome
  const isSame = ROLES.every((role) => different[role] === 0)
  const rows = ROLES.filter((role) => present[role] + lacking[role] + extra[role] > 0).map((role) => [
    role,
    ...(isVerifyOnly ? [] : [countText(copied[role])]),
    countText(present[role]),
    countText(lacking[role]),
    ...(isSame ? [] : [countText(different[role])]),
    countText(extra[role]),
  ])
  const differing = isSame ? [] : ["different"]
  const titles = ["", ...(isVerifyOnly ? [] : ["copied"]), "in both", "missing", ...differing, "only there"]
  const shape = titles.map((title, index) => (index === 0 ? { title, isFixed: true } : { title, ...RIGHT }))
  const lines = examples.map(({ table, key, found }) => style.red(`${found}  ${table} ${visibleLine(key.join(" "))}\n`))
  const said = labels.new + labels.present === 0 ? "" : labelsText(labels, isVerifyOnly)
  const again = isVerifyOnly ? " Run pond copy without --verify-only." : ""
  const verdict = ok
    ? style.green(`Every row of the source is in the target, with the same content.${sinceText(outcome)}\n`)
    : style.red(
        isSame ? `The target is missing rows.${again}\n` : "The target has other content in rows of the source.\n",
      )
  return `${renderTable(shape, rows, { columns, head: style.bold })}${lines.join("")}${said}${conflicts(outcome, style)}${refusals(outcome, style)}${verdict}`
}

function sinceText({ compared }: CopyOutcome): string {
  return compared === "all" ? "" : " Only sessions that changed since the last copy were compared; --full compares all."
}

function labelsText({ new: added, present }: CopyOutcome["labels"], isVerifyOnly: boolean): string {
  return `Labels: ${countText(added)} ${isVerifyOnly ? "missing" : "copied"}, ${countText(present)} already there.\n`
}

/** Of each label that was changed on both sides: what counts now, and what it was on the other side. */
function conflicts({ label_conflicts: found }: Pick<ImportOutcome, "label_conflicts">, style: Style): string {
  const shown = (value: string | null, field: string) => {
    if (value === null) return "none"
    return field === "star" ? "starred" : `"${visibleLine(value)}"`
  }
  const lines = found.map(({ session_id, field, kept, overruled }) =>
    style.magenta(
      `conflict  ${field} of session ${visibleLine(session_id)}: ${shown(kept, field)} was set last and is kept, not ${shown(overruled, field)}\n`,
    ),
  )
  return lines.join("")
}

function refusals(
  {
    refused,
    diverging,
    erased,
    excluded = [],
  }: Pick<ImportOutcome, "refused" | "diverging" | "erased"> & { readonly excluded?: readonly string[] },
  style: Style,
): string {
  const skipped = (ids: readonly string[], why: string) =>
    ids.map((id) => style.magenta(`skipped  session ${visibleLine(id)}: ${why}\n`)).join("")
  return [
    skipped(refused, "the store has another session with this id, from another client or project"),
    skipped(erased, "it is erased in the store (`pond erase --list`)"),
    skipped(excluded, "its project is excluded on this machine (`pond exclude list`)"),
    skipped(diverging, "conflict: the store has other messages of this session, or has them from another source"),
  ].join("")
}
