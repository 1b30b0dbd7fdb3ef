/** `pond doctor`: every check with what it found, and what mends it. */
import { visibleLine } from "../../model/visible.ts"
import { exitCodeOf, type Finding } from "../../operations/doctor/doctor.ts"
import { doctor as operation } from "../../operations/machine/care-operations.ts"
import { perform } from "../../operations/operation.ts"
import { argumentsFor } from "../operation-arguments.ts"
import type { Style } from "../render/style.ts"
import { defineVerb } from "../verb.ts"

const args = argumentsFor(operation.input, { fix: {} })

export const doctor = defineVerb({
  flags: args.flags,
  positionals: [],
  examples: ["doctor", "doctor --fix", "doctor --json"],
  run: async (context) => {
    const { progress } = context
    progress.stage("doctor", "checks")
    const onCheck = (name: string, done: number) => progress.at(done, name)
    const examination = await perform(operation, { ...context, onCheck }, args.inputOf(context))
    const open = examination.findings.filter(({ fix }) => fix !== null && !fix.done).length
    return {
      document: { ok: examination.ok, findings: examination.findings },
      exitCode: exitCodeOf(examination),
      // Not a table: a message that names the next step must never be cut.
      render: ({ style, prose }) => {
        const lines = examination.findings.map((finding) => `${prose(line(finding, style), INDENT)}\n`)
        const hint =
          open > 0 && !context.flags.fix
            ? style.dim(`\`pond doctor --fix\` can fix ${open === 1 ? "one of these" : `${open} of these`}.\n`)
            : ""
        return `${lines.join("")}${hint}`
      },
    }
  },
})

/** Under what was found. */
const INDENT = " ".repeat("warning  ".length)

function line({ check, status, found, fix }: Finding, style: Style): string {
  const marks = {
    ok: style.green("ok     "),
    todo: style.cyan("todo   "),
    warning: style.magenta("warning"),
    failed: style.red("failed "),
  }
  const mended = fix?.done === true ? style.green(" (fixed)") : ""
  return `${marks[status]}  ${style.bold(check)}: ${visibleLine(found)}${mended}`
}
