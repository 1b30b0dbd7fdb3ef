/** `pond label`: what a person says about a session: its name, a star, tags, a note. */
import { visibleLine } from "../../model/visible.ts"
import { perform } from "../../operations/operation.ts"
import { label as operation } from "../../operations/wire/label.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { defineVerb } from "../verb.ts"

const args = argumentsFor(
  operation.input,
  {
    name: { hint: "TEXT" },
    star: {},
    unstar: {},
    tag: { field: ["tags"], hint: "TAG" },
    untag: { hint: "TAG" },
    note: { hint: "TEXT" },
  },
  [{ field: "session_id", name: "session", words: "sessions" }],
)

export const label = defineVerb({
  flags: args.flags,
  positionals: args.positionals,
  examples: [
    'label SESSION --name "Fix the login" --star',
    "label SESSION --tag billing --tag urgent",
    'label SESSION --note "Went wrong at the migration"',
    "label SESSION",
  ],
  run: async (context) => {
    const answer = await perform(operation, context, args.inputOf(context))
    return {
      document: { ...answer },
      render: ({ style, prose }) => {
        const { name, starred, tags, note } = answer
        const lines = [
          ...(name === undefined ? [] : [`name  ${visibleLine(name)}`]),
          ...(starred ? ["star  yes"] : []),
          ...(tags.length === 0 ? [] : [`tags  ${tags.map(visibleLine).join(", ")}`]),
          ...(note === undefined ? [] : [`note  ${prose(visibleLine(note), "      ")}`]),
        ]
        return lines.length === 0 ? style.dim("No labels.\n") : `${lines.join("\n")}\n`
      },
    }
  },
})
