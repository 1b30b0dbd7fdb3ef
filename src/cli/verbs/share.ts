/** `pond share` and `pond unshare`: pages of sessions in storage of one's own, and taking them back. */
import { bytesText, counted } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { perform } from "../../operations/operation.ts"
import {
  share as shareOperation,
  unshare as unshareOperation,
} from "../../operations/share/publish/share-operations.ts"
import type { Shared, ShareOutput, SharePlanned } from "../../operations/share/publish/share-shapes.ts"
import { pondCommand } from "../../platform/process/shell-word.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { localTimeText } from "../render/dates.ts"
import { renderTable } from "../render/table.ts"
import { SESSION_FILTERS } from "../session-filters.ts"
import { defineVerb, type Page } from "../verb.ts"

const { to: until, ...FILTERS } = SESSION_FILTERS

const args = argumentsFor(
  shareOperation.input,
  {
    to: { hint: "TARGET" },
    expires: { field: ["expires_seconds"], duration: "s" },
    public: {},
    "conversation-only": {},
    ...FILTERS,
    until,
    list: {},
    yes: {},
  },
  [{ field: "session", words: "sessions" }],
)

const EXPLANATION =
  "Anyone with the link can read it. Credentials of known forms are replaced; unusual ones can slip through. `pond unshare` deletes it."

export const share = defineVerb({
  flags: args.flags,
  positionals: args.positionals,
  examples: [
    "share SESSION --to shared",
    "share SESSION --to s3://bucket/shared",
    "share SESSION --to gist --yes",
    "share --list",
  ],
  run: async (context) => {
    const { pond, signal, ask, progress, page, writeOut } = context
    let isRefused = false
    const confirm = async (plan: SharePlanned) => {
      if (ask === undefined) return false
      progress.hide()
      writeOut(planText(plan, page))
      isRefused = !(await ask(`Share it to ${visibleLine(plan.to)}?`, EXPLANATION, "no"))
      return !isRefused
    }
    const answer = await perform(shareOperation, { pond, signal, confirm }, args.inputOf(context))
    return {
      document: { ...answer },
      render: (shown) => (isRefused ? "No changes made.\n" : renderShare(answer, shown)),
    }
  },
})

function planText({ session_ids: ids, messages, bytes, replaced }: Omit<SharePlanned, "to">, { style, prose }: Page) {
  const kinds = replaced.map(({ kind, count }) => `${count} × ${visibleLine(kind)}`).join(", ")
  const what = kinds === "" ? "No credentials detected." : `Replaced: ${kinds}.`
  return `${prose(`${counted(ids.length, "session")}, ${counted(messages, "message")}, ${bytesText(bytes)}. ${what}`)}\n${style.dim(prose("Unusual credentials can slip through: read it before you share it.\n"))}`
}

function renderShare(answer: ShareOutput, page: Page): string {
  const { style, prose } = page
  const [shared] = answer.shares
  if (answer.action === "list")
    return answer.shares.length === 0 ? "Nothing was shared from this machine.\n" : listText(answer.shares, page)
  const plan = planText(answer, page)
  if (shared === undefined) return `${plan}${style.dim(prose("Nothing was shared. Add --yes to share it.\n"))}`
  const ends =
    shared.expires_at === null ? "" : `The link works until ${localTimeText(Date.parse(shared.expires_at))}. `
  return `${plan}${shared.link}\n${style.dim(prose(`${ends}${pondCommand("unshare", shared.id)} deletes it.\n`))}`
}

function listText(shares: readonly Shared[], { style, columns }: Page): string {
  const rows = shares.map(({ id, title, created_at: at, expires_at: end, link }) => [
    id,
    localTimeText(Date.parse(at)),
    end === null ? "" : localTimeText(Date.parse(end)),
    visibleLine(link),
    visibleLine(title),
  ])
  const shape = ["share", "when", "link ends", "link", "title"].map((title, at) => ({ title, isFixed: at < 3 }))
  return renderTable(shape, rows, { columns, head: style.bold })
}

const takenBack = argumentsFor(unshareOperation.input, { expired: {} }, [{ field: "share" }])

export const unshare = defineVerb({
  flags: takenBack.flags,
  positionals: takenBack.positionals,
  examples: ["unshare --expired"],
  run: async (context) => {
    const { removed } = await perform(unshareOperation, context, takenBack.inputOf(context))
    const links = removed.map(({ link }) => `Deleted ${visibleLine(link)}\n`).join("")
    return { document: { removed }, render: () => (removed.length === 0 ? "Nothing has expired.\n" : links) }
  },
})
