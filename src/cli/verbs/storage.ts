/** `pond storage check`: each step of the proof with how long it took, and what the failed one says. */
import { visibleLine } from "../../model/visible.ts"
import { perform } from "../../operations/operation.ts"
import { exitCodeOf } from "../../operations/store/storage.ts"
import { storageCheck as operation } from "../../operations/store/store-operations.ts"
import { NO_FLAGS } from "../flags.ts"
import { defineVerb } from "../verb.ts"

export const storageCheck = defineVerb({
  flags: NO_FLAGS,
  positionals: [{ name: "url", summary: "A storage URL (default: the configured store).", count: "optional" }],
  examples: ["storage check", "storage check s3://bucket/prefix", "storage check --json"],
  run: async ({ pond, signal, words: [url] }) => {
    const checked = await perform(operation, { pond, signal }, { url })
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
