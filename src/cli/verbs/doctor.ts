/** `pond doctor`: every check with what it found. */
import { examine, exitCodeOf, type Finding } from "../../operations/doctor.ts"
import { NO_FLAGS } from "../flags.ts"
import type { Style } from "../style.ts"
import { defineVerb } from "../verb.ts"
import { visibleLine } from "../visible.ts"

export const doctor = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["doctor", "doctor --json"],
  run: async ({ pond }) => {
    const examination = await examine(pond)
    return {
      document: { ok: examination.ok, findings: examination.findings },
      exitCode: exitCodeOf(examination),
      // Not a table: a message that names the next step must never be cut.
      render: ({ style }) => examination.findings.map((finding) => `${line(finding, style)}\n`).join(""),
    }
  },
})

function line({ check, status, found }: Finding, style: Style): string {
  const marks = { ok: style.green("ok     "), warning: style.yellow("warning"), failed: style.red("failed ") }
  return `${marks[status]}  ${style.bold(check)}: ${visibleLine(found)}`
}
