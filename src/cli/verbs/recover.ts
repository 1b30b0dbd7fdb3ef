/** `pond recover`: a version of a file that an agent read, wrote or edited. */
import { bytesText, counted, countText } from "../../model/numbers.ts"
import { visible, visibleLine } from "../../model/visible.ts"
import { recover as operation, type RecoverOutput } from "../../operations/files/recover.ts"
import { perform } from "../../operations/operation.ts"
import { writeNewFile } from "../../platform/files/new-file.ts"
import { flag } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { realDirectory } from "../project-flag.ts"
import { momentText } from "../render/dates.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Page } from "../verb.ts"
import { STDOUT } from "./get-document.ts"

const args = argumentsFor(
  operation.input,
  {
    at: {
      hint: "DATE",
      day: "end",
      summary: 'The version at that time: 2026-01-31, "20 Jan", yesterday (default: the newest).',
    },
    list: flag.onOff("List every version that is completely known."),
    output: flag.text("Write the version to FILE; - is stdout.", "FILE", { short: "o" }),
    force: flag.onOff("Overwrite an existing file."),
  },
  [{ field: "path", name: "file", isFile: true, summary: "The path that the file has, or had." }],
)

export const recover = defineVerb({
  flags: args.flags,
  positionals: args.positionals,
  examples: [
    "recover src/app.ts --list",
    "recover src/app.ts",
    "recover src/app.ts --at yesterday -o app.old.ts",
    "recover src/app.ts -o src/app.ts --force",
  ],
  run: async (context) => {
    const { pond, flags, words, isJson, show, writeOut } = context
    const nowMs = pond.host.clock.nowMs()
    const input = { ...args.inputOf(context), path: realDirectory(words[0] ?? "") }
    context.progress.stage("find what agents did to the file", "calls")
    const answer = await perform(operation, context, input)
    const { content, ...rest } = answer
    if (flags.list || content === undefined) {
      return { document: rest, render: (page) => renderVersions(answer, nowMs, page) }
    }
    if (flags.output !== undefined && flags.output !== STDOUT) {
      const bytes = await writeNewFile(flags.output, single(content), { isForced: flags.force })
      const document = { ...rest, file: flags.output, bytes }
      return {
        document,
        render: (page) =>
          `Wrote ${page.path(flags.output ?? "")}: ${bytesText(bytes)}, ${versionText(answer, nowMs)}.\n`,
      }
    }
    if (isJson) return { document: { ...answer }, render: () => "" }
    // A program gets the file as it was; a terminal is shown no text that could steer it.
    if (show === undefined) writeOut(content)
    else await show(() => single(visible(content)))
    return { exitCode: 0 }
  },
})

async function* single(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text)
}

const COLUMNS = [
  { title: "when", isFixed: true },
  { title: "", isFixed: true },
  { title: "lines", isFixed: true, align: "right" },
  { title: "client", isFixed: true },
  { title: "message" },
] as const

function renderVersions({ path, versions }: RecoverOutput, nowMs: number, page: Page): string {
  const rows = versions.map(({ timestamp, when, lines, source_agent, message_id }) => [
    momentText(timestamp, nowMs),
    when,
    lines === null ? "deleted" : countText(lines),
    visibleLine(source_agent),
    visibleLine(message_id),
  ])
  const sum = `${counted(versions.length, "version")} of ${page.path(path)}. Write one: pond recover FILE --at DATE -o FILE`
  return `${renderTable(COLUMNS, rows, { columns: page.columns, head: page.style.bold })}${page.style.dim(page.prose(sum))}\n`
}

function versionText({ versions, chosen = 0 }: RecoverOutput, nowMs: number): string {
  const version = versions[chosen]
  return version === undefined ? "" : `as it was ${version.when} ${momentText(version.timestamp, nowMs)}`
}
