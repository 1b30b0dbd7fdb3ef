/** `pond storage check`: each step of the proof with how long it took, and what the failed one says. */
import { visibleLine } from "../../model/visible.ts"
import { perform } from "../../operations/operation.ts"
import { exitCodeOf } from "../../operations/store/storage.ts"
import { storageCheck as operation } from "../../operations/store/store-operations.ts"
import { NO_FLAGS } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { defineVerb } from "../verb.ts"

const args = argumentsFor(operation.input, {}, [{ field: "url", isFile: true }])

export const storageCheck = defineVerb({
  flags: NO_FLAGS,
  positionals: args.positionals,
  examples: ["storage check", "storage check s3://bucket/prefix", "storage check --json"],
  run: async (context) => {
    const checked = await perform(operation, context, args.inputOf(context))
    return {
      document: { ...checked },
      exitCode: exitCodeOf(checked),
      render: ({ style }) => {
        const lines = checked.steps.map(({ step, ok, ms, error }) => {
          const mark = ok ? style.green("ok    ") : style.red("failed")
          return `${mark}  ${style.bold(step)}: ${error === undefined ? `${ms} ms` : visibleLine(error.message)}`
        })
        const verdict = checked.ok
          ? "passed the check; several machines can write to it at once."
          : "failed the check; do not use it yet."
        return `${[...lines, `${visibleLine(checked.url)} ${verdict}`].join("\n")}\n`
      },
    }
  },
})
