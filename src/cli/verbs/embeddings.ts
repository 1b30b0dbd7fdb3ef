/** `pond embeddings`: search by meaning, its model, and how far its vectors are. */
import { counted, countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import type { EmbeddingsStatus, UsedModel } from "../../operations/machine/embeddings.ts"
import {
  embeddingsList,
  embeddingsOff,
  embeddingsStatus,
  embeddingsUse,
} from "../../operations/machine/embeddings-operations.ts"
import { perform } from "../../operations/operation.ts"
import { NO_FLAGS } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Page } from "../verb.ts"

export const list = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["embeddings list", "embeddings list --json"],
  run: async ({ pond, signal }) => {
    const { models } = await perform(embeddingsList, { pond, signal }, {})
    return {
      document: { models },
      render: ({ style, columns }: Page) => {
        const rows = models.map((model) => [
          model.name,
          model.state,
          `${model.megabytes} MB`,
          [model.dimension, ...model.cuts].join(", "),
          model.languages,
          model.license,
        ])
        const titles = ["model", "state", "size", "dimensions", "languages", "license"]
        const shape = titles.map((title, index) => ({ title, isFixed: index < titles.length - 1 }))
        const table = renderTable(shape, rows, { columns, head: style.bold })
        return `${table}${style.dim("`pond embeddings use NAME` turns one on; NAME can also be a directory with model.onnx.\n")}`
      },
    }
  },
})

const useArguments = argumentsFor(embeddingsUse.input, { dimension: {}, endpoint: { hint: "URL" } }, [
  { field: "model", summary: "A model from `pond embeddings list`, or a directory." },
])

export const use = defineVerb({
  flags: useArguments.flags,
  positionals: useArguments.positionals,
  examples: ["embeddings use multilingual-e5-small", "embeddings use /opt/models/my-model"],
  run: async (context) => {
    const { pond, signal, progress } = context
    let isBegun = false
    const onDownload = (received: number, total: number | undefined) => {
      if (!isBegun) progress.stage("download", "bytes", total)
      else progress.at(received)
      isBegun = true
    }
    const used = await perform(embeddingsUse, { pond, signal, onDownload }, useArguments.inputOf(context))
    return { document: { ...used }, render: () => renderUsed(used) }
  },
})

function renderUsed({ model, dimension, test, config }: UsedModel): string {
  const works = `${visibleLine(model)} works: ${test.passed} of ${test.of} test queries found their passage (${dimension} dimensions).`
  return `${works}\nSearch by meaning is on (${visibleLine(config)}). \`pond sync\` embeds the stored messages; \`pond sync --only embed\` does it at once.\n`
}

export const off = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["embeddings off"],
  run: async ({ pond, signal }) => {
    const done = await perform(embeddingsOff, { pond, signal }, {})
    return {
      document: { ...done },
      render: () => "Search by meaning is off. Models and vectors are kept; `pond embeddings use` turns it on again.\n",
    }
  },
})

export const status = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["embeddings status", "embeddings status --json"],
  run: async ({ pond, signal }) => {
    const found = await perform(embeddingsStatus, { pond, signal }, {})
    return { document: { ...found }, render: () => renderStatus(found) }
  },
})

const CHECKED = {
  unchanged: "as they were downloaded",
  changed: "changed since they were downloaded; delete the directory and run `pond embeddings use` again",
  unknown: "downloaded without checksums; delete the directory and run `pond embeddings use` again",
} as const

function renderStatus(found: EmbeddingsStatus): string {
  if (!found.on)
    return "Search by meaning is off. `pond embeddings list` shows the models, `pond embeddings use NAME` turns one on.\n"
  const files = found.downloaded ? "" : " (not downloaded yet: the next sync does it)"
  const asked = [
    found.pooling === null ? "" : `pooling ${found.pooling}`,
    found.query_prefix ? `query prefix ${JSON.stringify(found.query_prefix)}` : "",
    found.passage_prefix ? `passage prefix ${JSON.stringify(found.passage_prefix)}` : "",
    found.max_tokens === null ? "" : `${found.max_tokens} tokens at once`,
  ].filter(Boolean)
  const checked = found.files === null ? [] : [`files       ${CHECKED[found.files]}`]
  const rest = found.embedded < found.total ? "; `pond sync --only embed` continues" : ""
  return [
    `model       ${visibleLine(found.model ?? "")}${found.dimension === null ? "" : `, ${found.dimension} dimensions`}`,
    ...(found.host === null
      ? [
          `directory   ${visibleLine(found.directory ?? "")}${files}`,
          ...checked,
          `asked with  ${visibleLine(asked.join(", "))}`,
        ]
      : [`server      ${visibleLine(found.host)} (it receives every stored text and every query)`]),
    `vectors     ${countText(found.embedded)} of ${counted(found.total, "message")}${rest}`,
    "",
  ].join("\n")
}
