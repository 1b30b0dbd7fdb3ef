/** `pond erase`: removes sessions with their sub-agents, forks and copies. Lists them first, and asks. */
import { counted, countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { perform } from "../../operations/operation.ts"
import type { Pond } from "../../operations/pond.ts"
import { erase as operation } from "../../operations/store/erase-operations.ts"
import type { EraseOutput, ErasePlanned } from "../../operations/store/erase-shapes.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { localTimeText } from "../render/dates.ts"
import { renderTable } from "../render/table.ts"
import { SESSION_FILTERS } from "../session-filters.ts"
import { defineVerb, type Page } from "../verb.ts"

const ROWS_MAX = 20

const args = argumentsFor(
  operation.input,
  {
    ...SESSION_FILTERS,
    secrets: {},
    purge: {},
    list: {},
    undo: {},
    "dry-run": {},
    yes: {},
  },
  [{ field: "session", words: "sessions" }],
)

type Answer = EraseOutput

export const erase = defineVerb({
  flags: args.flags,
  positionals: args.positionals,
  examples: [
    "erase 7b2777b1",
    "erase 7b2777b1 --dry-run",
    "erase --project secret-client --purge",
    "erase --secrets --dry-run",
    "erase --list",
    "erase --undo 7b2777b1",
    "erase --purge",
  ],
  run: async (context) => {
    const { pond, flags, signal, ask, page, progress, writeOut } = context
    let isRefused = false
    const confirm = async (plan: ErasePlanned) => {
      if (ask === undefined) return false
      progress.hide()
      writeOut(renderPlan(plan as Answer & ErasePlanned, page))
      if (plan.is_purge) writeOut(await othersText(pond, page))
      isRefused = !(await ask(questionOf(plan), explanationOf(plan), "no"))
      return !isRefused
    }
    const onTable = (name: string) => progress.stage(name, "rows", undefined)
    const answer = await perform(operation, { pond, signal, confirm, onTable }, args.inputOf(context))
    return {
      document: { ...answer },
      render: (shown) => (isRefused ? "No changes made.\n" : render(answer, { ...shown, isPurge: flags.purge })),
    }
  },
})

/** On a disk a lock keeps other processes out. A bucket has none: what another machine writes meanwhile is its own affair. */
async function othersText(pond: Pond, { prose, style }: Page): Promise<string> {
  const { backend } = (await pond.sessions()).store.location
  if (backend === "local") return ""
  return style.magenta(
    prose("Do not sync to this bucket from another machine during the purge: a bucket cannot be locked.\n"),
  )
}

function questionOf({ sessions, is_purge: isPurge }: ErasePlanned): string {
  if (sessions.length === 0) return "Remove the bytes of everything erased?"
  const [them, their] = sessions.length === 1 ? ["it", "its"] : ["them", "their"]
  return isPurge ? `Erase ${them} and remove ${their} bytes? This cannot be undone.` : `Erase ${them}?`
}

function explanationOf({ is_purge: isPurge }: ErasePlanned): string {
  const undone = isPurge
    ? "A purge cannot be undone."
    : "`pond erase --undo SESSION` brings them back until they are purged."
  return `No search, list, export or query finds an erased session, and no sync, import or copy stores it again. ${undone}`
}

function render(answer: Answer, page: Page & { readonly isPurge: boolean }): string {
  const { style, prose } = page
  switch (answer.action) {
    case "list":
      return answer.sessions.length === 0 ? "No sessions are erased.\n" : renderTombstones(answer, page)
    case "undo":
      return prose(
        `${counted(answer.sessions.length, "session")} no longer erased. \`pond sync\` stores what clients wrote in the meantime, and what was purged if they still have it.\n`,
      )
    case "erase":
      return `${renderDone(answer, page)}${style.dim(prose("The client's own files still have them: delete them there too.\n"))}`
    case "plan":
      if (answer.sessions.length + answer.waiting === 0) return "Nothing matches. No changes made.\n"
      return `${renderPlan(answer, page)}${style.dim(prose(`No changes made. Add --yes to erase${page.isPurge ? " and purge" : ""}.\n`))}`
  }
}

function renderDone({ sessions, messages, purged }: Answer, { prose }: Page): string {
  const erased =
    sessions.length === 0 ? "" : `Erased ${counted(sessions.length, "session")}, ${counted(messages, "message")}. `
  if (purged === null)
    return prose(`${erased}\`pond erase --undo SESSION\` brings it back; \`pond erase --purge\` removes the bytes.\n`)
  const files = `Removed the bytes of ${counted(purged.sessions, "session")} from the files of the store (${(purged.ms / 1000).toFixed(1)} s).`
  return prose(`${erased}${files}\n`)
}

/** The whole id is a separate line of `--json`; a table shows what tells sessions apart. */
const ID_WIDTH_MAX = 18

const WHY = { asked: "", child: "belongs to", copy: "copies" } as const

function renderPlan(
  plan: Pick<Answer, "sessions" | "messages" | "waiting"> & Partial<Answer>,
  { style, columns, prose }: Page,
): string {
  const {
    sessions,
    messages,
    parts = 0,
    vectors = 0,
    attachments = 0,
    shared_attachments: shared = null,
    waiting,
  } = plan
  const rows = sessions
    .slice(0, ROWS_MAX)
    .map(({ session_id, title, source_agent, project, created_at, why, because }) => [
      visibleLine(session_id.length > ID_WIDTH_MAX ? `${session_id.slice(0, ID_WIDTH_MAX - 1)}…` : session_id),
      created_at?.slice(0, 10) ?? "",
      visibleLine(source_agent ?? ""),
      visibleLine(project?.split("/").findLast(Boolean) ?? ""),
      visibleLine(title ?? ""),
      because === null ? "" : `${WHY[why]} ${visibleLine(because.slice(0, 8))}`,
    ])
  const shape = [
    { title: "session", isFixed: true },
    { title: "from", isFixed: true },
    { title: "client", isFixed: true },
    { title: "project" },
    { title: "title" },
    { title: "why", isFixed: true },
  ]
  const table = rows.length === 0 ? "" : renderTable(shape, rows, { columns, head: style.bold })
  const more =
    sessions.length > rows.length ? style.dim(`and ${counted(sessions.length - rows.length, "other session")}\n`) : ""
  const kept = shared === null || shared === 0 ? "" : ` (${countText(shared)} stay: other sessions use them)`
  const rest = [
    counted(messages, "message"),
    counted(parts, "part"),
    ...(vectors === 0 ? [] : [counted(vectors, "vector")]),
    ...(attachments === 0 ? [] : [counted(attachments, "attachment")]),
  ].join(", ")
  const sum = sessions.length === 0 ? "" : `${counted(sessions.length, "session")}: ${rest}${kept}.\n`
  const earlier = waiting === 0 ? "" : `${counted(waiting, "session")} erased earlier will be purged.\n`
  return `${table}${more}${prose(`${sum}${earlier}`)}`
}

function renderTombstones({ sessions }: Answer, { style, columns }: Page): string {
  const rows = sessions.map(({ session_id, state, erased_at, host, because }) => [
    visibleLine(session_id),
    state === "purging" ? "purge interrupted" : state,
    localTimeText(Date.parse(erased_at ?? "")),
    visibleLine(host ?? ""),
    because === null ? "" : `with ${visibleLine(because.slice(0, 8))}`,
  ])
  const shape = ["session", "state", "when", "host", ""].map((title, index) => ({ title, isFixed: index < 3 }))
  return renderTable(shape, rows, { columns, head: style.bold })
}
