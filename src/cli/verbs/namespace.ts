/** `pond namespace list` and `create`: the tenants of a store that serves several. */
import { visibleLine } from "../../model/visible.ts"
import { perform } from "../../operations/operation.ts"
import { namespaceCreate as create, namespaceList as list } from "../../operations/store/store-operations.ts"
import { NO_FLAGS } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb } from "../verb.ts"

export const namespaceList = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["namespace list", "namespace list --store s3://bucket/prefix --json"],
  run: async ({ pond, signal }) => {
    const report = await perform(list, { pond, signal }, {})
    return {
      document: { ...report },
      render: ({ style, columns }) =>
        renderTable(
          [{ title: "namespace" }, { title: "created", isFixed: true }],
          report.namespaces.map(({ namespace, created_at }) => [visibleLine(namespace), created_at ?? "default"]),
          { columns, head: style.bold },
        ),
    }
  },
})

const createArguments = argumentsFor(create.input, {}, [{ field: "name" }])

export const namespaceCreate = defineVerb({
  flags: NO_FLAGS,
  positionals: createArguments.positionals,
  examples: ["namespace create team-a"],
  run: async (context) => {
    const { namespace, created } = await perform(create, context, createArguments.inputOf(context))
    const shown = visibleLine(namespace)
    return {
      document: { namespace, created },
      render: () =>
        created
          ? `Created ${shown}. Use it with --namespace, or with "namespace" in requests.\n`
          : `${shown} already exists; no changes made.\n`,
    }
  },
})
