/** `pond config`: what is in force, and where each value came from. */
import { visibleLine } from "../../model/visible.ts"
import {
  config as operation,
  configSet as setting,
  configUnset as unsetting,
} from "../../operations/machine/care-operations.ts"
import type { SetConfigReport } from "../../operations/machine/set-config.ts"
import { perform } from "../../operations/operation.ts"
import { describeOrigin } from "../../platform/config/config.ts"
import { NO_FLAGS } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Outcome } from "../verb.ts"

/** Lists as the config file has them. */
function settingText(value: unknown): string {
  if (value === null) return "(not set)"
  return visibleLine(typeof value === "string" ? value : JSON.stringify(value))
}

export const config = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["config", "config --json", "--store s3://bucket/prefix config"],
  run: async ({ pond, signal }) => {
    const { file, settings, directories } = await perform(operation, { pond, signal }, {})
    return {
      document: { file, settings, directories },
      render: ({ style, columns }) => {
        const layout = { columns, head: style.bold }
        const values = settings.map(({ key, value, origin }) => [
          key,
          settingText(value),
          visibleLine(describeOrigin(origin)),
        ])
        const places = Object.entries(directories).map(([place, path]) => [place, visibleLine(path)])
        return [
          `${visibleLine(file.path)}${file.exists ? "" : style.dim("  (not there; defaults apply)")}\n\n`,
          renderTable([{ title: "setting", isFixed: true }, { title: "value" }, { title: "from" }], values, layout),
          "\n",
          renderTable([{ title: "directory", isFixed: true }, { title: "path" }], places, layout),
        ].join("")
      },
    }
  },
})

const setArgs = argumentsFor(setting.input, {}, [{ field: "key" }, { field: "value" }])

export const configSet = defineVerb({
  flags: setArgs.flags,
  positionals: setArgs.positionals,
  examples: ["config set embeddings.model multilingual-e5-small", "config set adapters.disabled pi,codex"],
  run: async (context) => changed(await perform(setting, context, setArgs.inputOf(context))),
})

const unsetArgs = argumentsFor(unsetting.input, {}, [{ field: "key" }])

export const configUnset = defineVerb({
  flags: unsetArgs.flags,
  positionals: unsetArgs.positionals,
  examples: ["config unset adapters.disabled"],
  run: async (context) => changed(await perform(unsetting, context, unsetArgs.inputOf(context))),
})

function changed(report: SetConfigReport): Outcome {
  const { key, path, changed: isChanged, overridden_by: variable } = report
  return {
    document: { ...report },
    render: (page) => {
      const done = isChanged ? `Changed ${key} in ${page.path(path)}.` : "No changes made."
      const note = variable === undefined ? "" : ` The variable ${variable} is set and takes precedence.`
      return `${page.prose(`${done}${note}`)}\n`
    },
  }
}
