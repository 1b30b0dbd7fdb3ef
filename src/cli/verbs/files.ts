/** `pond files`: which files a session read and changed. */
import { counted, countText } from "../../model/numbers.ts"
import { type FilesOutput, files as operation, type TouchedFile } from "../../operations/files/files.ts"
import { perform } from "../../operations/operation.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { momentText } from "../render/dates.ts"
import { projectText } from "../render/home-paths.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Page } from "../verb.ts"

const args = argumentsFor(operation.input, {}, [{ field: "session_id", name: "session", words: "sessions" }])

export const files = defineVerb({
  flags: args.flags,
  positionals: args.positionals,
  examples: ["files SESSION", "files SESSION --json"],
  run: async (context) => {
    const answer = await perform(operation, context, args.inputOf(context))
    const { clock, environment } = context.pond.host
    return {
      document: { ...answer },
      render: (page) => renderFiles(answer, { ...page, nowMs: clock.nowMs(), home: environment["HOME"] }),
    }
  },
})

interface Layout extends Page {
  readonly nowMs: number
  readonly home: string | undefined
}

const COLUMNS = [
  { title: "file", cut: "front" },
  { title: "", isFixed: true },
  { title: "lines", isFixed: true, align: "right" },
  { title: "last", isFixed: true },
] as const

function renderFiles({ files: touched }: FilesOutput, { style, columns, prose, nowMs, home }: Layout): string {
  if (touched.length === 0) return prose("This session is not known to have touched any file.\n")
  const rows = touched.map((file) => [
    projectText(file.path, home),
    whatText(file),
    linesText(file),
    momentText(file.last_at, nowMs),
  ])
  const changed = touched.filter((file) => file.writes + file.edits > 0 || file.deleted).length
  const sum = `${counted(changed, "file")} changed, ${countText(touched.length - changed)} only read. Who wrote a line: pond blame FILE`
  return `${renderTable(COLUMNS, rows, { columns, head: style.bold })}${style.dim(prose(sum))}\n`
}

function whatText({ reads, writes, edits, deleted }: TouchedFile): string {
  if (deleted) return "deleted"
  if (writes > 0) return edits > 0 ? `written, ${counted(edits, "edit")}` : "written"
  return edits > 0 ? counted(edits, "edit") : counted(reads, "read")
}

function linesText({ lines_added: added, lines_removed: removed }: TouchedFile): string {
  return added + removed === 0 ? "" : `+${countText(added)} -${countText(removed)}`
}
