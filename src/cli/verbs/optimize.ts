/** `pond optimize`: indexes built and folded, fragments compacted, old versions cleaned. */
import { optimizeStore } from "../../operations/optimize.ts"
import { NO_FLAGS } from "../flags.ts"
import { defineVerb } from "../verb.ts"

export const optimize = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["optimize"],
  run: async ({ pond }) => {
    const report = await optimizeStore(pond)
    const lines = report.tables.flatMap(({ table, isBusy, steps }) =>
      isBusy
        ? [`${table}: another pond is at it`]
        : steps.map(({ step, ms }) => `${table}: ${step.replaceAll("_", " ")}, ${ms} ms`),
    )
    return {
      document: { ...report },
      render: ({ style }) => `${[...lines, style.dim(`Done in ${(report.ms / 1000).toFixed(1)} s.`)].join("\n")}\n`,
    }
  },
})
