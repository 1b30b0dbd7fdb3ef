/** `pond rescue`: every session of a client, into another one. Stores first what is not stored yet. */
import { EXIT_NOT_WHOLE } from "../../model/errors.ts"
import { counted } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { rescue as operation } from "../../operations/machine/restore-operations.ts"
import { perform } from "../../operations/operation.ts"
import { pondCommand } from "../../platform/process/shell-word.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { realDirectory } from "../project-flag.ts"
import { defineVerb, type Page } from "../verb.ts"
import { lossText } from "./restore.ts"
import { syncHooks } from "./sync.ts"

const args = argumentsFor(
  operation.input,
  {
    to: { hint: "CLIENT", words: "adapters" },
    path: { hint: "DIR" },
    root: { hint: "DIR", summary: "The data directory of the client to write into, if not the usual one." },
    cwd: { hint: "DIR", convert: realDirectory },
    reasoning: {},
    "dry-run": {},
  },
  [{ field: "client", words: "adapters" }],
)

type Answer = Awaited<ReturnType<typeof operation.run>>

export const rescue = defineVerb({
  flags: args.flags,
  positionals: args.positionals,
  examples: ["rescue roo-code --to cline --dry-run", "rescue iflow --to claude-code --cwd ."],
  run: async (context) => {
    const { pond, progress } = context
    let titles: Titles = ["", ""]
    const onClients = (...both: Titles) => {
      titles = both
    }
    const onSession = (place: number, total: number) => {
      if (place === 0) progress.stage("convert", "sessions", total)
      progress.at(place)
    }
    const hooks = { ...syncHooks(context), onClients, onSession }
    const answer = await perform(operation, { pond, ...hooks }, args.inputOf(context))
    const isWhole = answer.sessions.every(({ state }) => state !== "refused")
    return {
      document: { ...answer },
      exitCode: isWhole ? 0 : EXIT_NOT_WHOLE,
      render: (page) => rescueText(answer, titles, page),
    }
  },
})

type Titles = readonly [from: string, to: string]

function rescueText(answer: Answer, [from, target]: Titles, { style, prose }: Page): string {
  const { client, to, sessions, losses, dry_run: isDry } = answer
  if (sessions.length === 0) {
    const sync = isDry ? ` \`${pondCommand("sync", client)}\` stores what is on this machine.` : ""
    return prose(`No session of ${from} is stored.${sync} Sessions elsewhere are read with --path DIR.\n`)
  }
  const of = (wanted: Answer["sessions"][number]["state"]) => sessions.filter(({ state }) => state === wanted)
  const made = [...of("written"), ...of("planned")]
  const [present, refused] = [of("present"), of("refused")]
  const lines = [
    `${isDry ? "Would convert" : "Converted"} ${counted(made.length, "session")} of ${from} to ${target}.`,
    ...(present.length === 0 ? [] : [`An earlier run wrote ${counted(present.length, "session")}.`]),
    ...losses.map((group) => style.magenta(`  ${visibleLine(`lost: ${lossText(group)}`)}`)),
    ...(refused.length === 0 ? [] : [style.red(`Not converted: ${counted(refused.length, "session")}.`)]),
    ...refused.map(({ session_id: id, title, reason }) =>
      prose(`  ${visibleLine(`${id}  ${title ?? ""}: ${reason ?? ""}`)}`, "    "),
    ),
    ...(made.length + present.length === 0 || isDry
      ? []
      : [style.dim(`Open ${target}, or run ${pondCommand("resume", "SESSION", { to })}.`)]),
  ]
  return `${lines.join("\n")}\n`
}
