/** `pond check` and `pond repair`: what of the store is not as it was written, by table, file and session. */
import { bytesText, counted } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { perform } from "../../operations/operation.ts"
import { ALL_TABLES, exitCodeOfCheck, type StoreCheck, type StoreRepair } from "../../operations/store/integrity.ts"
import { checkStore, repairStore } from "../../operations/store/store-operations.ts"
import { NO_FLAGS } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { defineVerb, type Page } from "../verb.ts"

const SESSIONS_SHOWN = 10

const args = argumentsFor(checkStore.input, {
  "read-data": {},
  subset: { field: ["percent"], hint: "PERCENT", summary: "Read only PERCENT of the files, different ones each hour." },
})

export const check = defineVerb({
  flags: args.flags,
  positionals: [],
  examples: ["check", "check --read-data", "check --subset 10", "check --read-data --json"],
  run: async (context) => {
    const { pond, flags, progress, signal } = context
    const onTable = (name: string) => progress.stage(name, "files", undefined)
    const isDeep = flags["read-data"] || flags.subset !== undefined
    const input = { ...args.inputOf(context), read_data: isDeep }
    const checked = await perform(checkStore, { pond, signal, onTable }, input)
    return {
      document: { ...checked },
      exitCode: exitCodeOfCheck(checked),
      render: (page) => renderCheck(checked, isDeep, page),
    }
  },
})

export const repair = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["repair", "repair --json"],
  run: async ({ pond, signal }) => {
    const done = await perform(repairStore, { pond, signal }, {})
    return { document: { ...done }, render: (page) => renderRepair(done, page) }
  },
})

function renderCheck(
  { store, ok, tables, sessions, is_covered: isCovered }: StoreCheck,
  isDeep: boolean,
  page: Page,
): string {
  const lines = tables.flatMap(({ namespace, table, damaged, lost_rows: lost, rows }) => [
    ...(damaged.length === 0
      ? []
      : [
          table === ALL_TABLES
            ? `${page.style.bold("all tables")}${within(namespace)}: the folder is missing`
            : `${page.style.bold(table)}${within(namespace)}: ${lost} of ${counted(rows, "row")} cannot be read`,
        ]),
    ...damaged.map(({ file, found }) => `  ${found}: ${visibleLine(file)}`),
  ])
  const files = tables.reduce((sum, each) => sum + each.files, 0)
  const read = tables.reduce((sum, each) => sum + each.bytes_read, 0)
  const open = tables.reduce((sum, each) => sum + each.not_covered, 0)
  const covered = isCovered
    ? []
    : [
        open === 0
          ? "pond keeps no checksums in this object store."
          : `${counted(open, "file")} not covered yet; \`pond optimize\` covers them.`,
      ]
  const verdict = ok
    ? `${page.path(store)} is intact: ${counted(files, "file")}${isDeep ? `, ${bytesText(read)} read` : ", by name and size; `--read-data` reads them"}.`
    : `${page.path(store)} is damaged. Run \`pond repair\`, then \`pond sync\`.`
  return `${[...lines, ...sessionLines(sessions), ...covered, verdict].join("\n")}\n`
}

function renderRepair({ store, tables, sessions, lost_rows: lost }: StoreRepair, page: Page): string {
  if (tables.length === 0) return `${page.path(store)} is intact; there is nothing to repair.\n`
  const lines = tables.map(({ namespace, table, lost_rows: rows, returned, quarantined, quarantine }) => {
    const back = returned.length === 0 ? "" : `, ${counted(returned.length, "file")} taken back`
    const out = quarantine === null ? "" : `, ${counted(quarantined.length, "file")} moved to ${page.path(quarantine)}`
    if (table === ALL_TABLES) return `${page.style.bold("all tables")}${within(namespace)}: given up`
    return `${page.style.bold(table)}${within(namespace)}: ${counted(rows, "row")} lost${back}${out}`
  })
  const isAnyLost = lost > 0 || tables.some(({ table }) => table === ALL_TABLES)
  const next = !isAnyLost ? "Nothing is lost." : "Run `pond sync` to store again what your clients still have."
  const isShownAgain = tables.some(({ table, lost_rows: rows }) => table === "tombstones" && rows > 0)
  const erased = isShownAgain
    ? ["Sessions that were erased and not purged may be visible again: erase them again."]
    : []
  return `${[...lines, ...sessionLines(sessions), ...erased, next].join("\n")}\n`
}

function within(namespace: string): string {
  return namespace === "local" ? "" : ` (namespace ${visibleLine(namespace)})`
}

function sessionLines(sessions: readonly string[]): string[] {
  if (sessions.length === 0) return []
  const more = sessions.length > SESSIONS_SHOWN ? [`  and ${sessions.length - SESSIONS_SHOWN} more: see --json`] : []
  return [
    "Sessions with rows in them:",
    ...sessions.slice(0, SESSIONS_SHOWN).map((id) => `  ${visibleLine(id)}`),
    ...more,
  ]
}
