/** `pond exclude`: projects that are not to be stored. */
import { counted } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { excludeAdd, excludeList, excludeRemove } from "../../operations/machine/exclude-operations.ts"
import { perform } from "../../operations/operation.ts"
import { erase } from "../../operations/store/erase-operations.ts"
import { NO_FLAGS } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { realDirectory } from "../project-flag.ts"
import { defineVerb } from "../verb.ts"

const args = argumentsFor(excludeAdd.input, {}, [{ field: "projects", name: "project" }])

/** `.` and `./x` are directories, as a shell knows them. */
function projectsOf(words: readonly string[]): { readonly projects: readonly string[] } {
  return { projects: words.map((word) => (/^\.{1,2}(?:\/|$)/.test(word) ? realDirectory(word) : word)) }
}

export const add = defineVerb({
  flags: NO_FLAGS,
  positionals: args.positionals,
  examples: ["exclude add ~/work/client", "exclude add .", "exclude add '**/secret-*'", "exclude add acme"],
  run: async (context) => {
    const { pond, signal, ask } = context
    const answer = await perform(excludeAdd, context, projectsOf(context.words))
    const { stored, changed, file } = answer
    const question = `Also erase its ${counted(stored.length, "stored session")}?`
    const isErased =
      stored.length > 0 && (await ask?.(question, "`pond erase --undo SESSION` brings a session back.", "no")) === true
    if (isErased) await perform(erase, { pond, signal }, { session: stored, yes: true })
    return {
      document: { ...answer },
      render: ({ path, prose }) => {
        const done = changed.length === 0 ? "No changes: already excluded." : `Excluded in ${path(file)}.`
        if (stored.length === 0) return prose(`${done} No session of it is stored.\n`)
        const kept = `${counted(stored.length, "stored session")} kept: \`pond erase --project TEXT\` erases them.`
        return prose(`${done} ${isErased ? `Erased ${counted(stored.length, "session")} of it.` : kept}\n`)
      },
    }
  },
})

export const remove = defineVerb({
  flags: NO_FLAGS,
  positionals: args.positionals,
  examples: ["exclude remove acme"],
  run: async (context) => {
    const answer = await perform(excludeRemove, context, projectsOf(context.words))
    return {
      document: { ...answer },
      render: ({ path, prose }) =>
        prose(`No longer excluded in ${path(answer.file)}. The next sync stores what was left out.\n`),
    }
  },
})

export const list = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["exclude list"],
  run: async (context) => {
    const answer = await perform(excludeList, context, {})
    return {
      document: { ...answer },
      render: () =>
        answer.excluded.length === 0
          ? "No project is excluded.\n"
          : answer.excluded.map((each) => `${visibleLine(each)}\n`).join(""),
    }
  },
})
