/** Which projects this machine keeps out of its store. */
import { Type } from "typebox"
import { closedObject, defineLocalOperation, type RunContext } from "../operation.ts"

const Patterns = closedObject({
  projects: Type.Array(Type.String({ minLength: 1 }), {
    minItems: 1,
    description: "A directory with everything below it, a pattern with * or **, or a part of a path.",
  }),
})

const Excluded = Type.Array(Type.String(), { description: "Every excluded directory, pattern or part of a path." })
const Changed = {
  file: Type.String({ description: "The config file." }),
  changed: Type.Array(Type.String()),
  excluded: Excluded,
}

export const excludeList = defineLocalOperation({
  name: "exclude_list",
  summary: "List the excluded projects.",
  input: closedObject({}),
  output: closedObject({ file: Type.String(), excluded: Excluded }),
  errors: [],
  surfaces: { local: true, cli: "exclude list" },
  read: true,
  run: async ({ pond }: RunContext) => (await import("./exclude.ts")).listExcluded(pond),
})

export const excludeAdd = defineLocalOperation({
  name: "exclude_add",
  summary: "Keep projects out of the store from now on: sync, watch and import leave them out.",
  input: Patterns,
  output: closedObject({
    ...Changed,
    stored: Type.Array(Type.String(), { description: "Sessions of these projects that are stored already, and stay." }),
  }),
  errors: [],
  surfaces: { local: true, cli: "exclude add" },
  read: false,
  run: async ({ pond }: RunContext, { projects }) => await (await import("./exclude.ts")).addExcluded(pond, projects),
})

export const excludeRemove = defineLocalOperation({
  name: "exclude_remove",
  summary: "Stop excluding projects.",
  input: Patterns,
  output: closedObject(Changed),
  errors: ["not_found"],
  surfaces: { local: true, cli: "exclude remove" },
  read: false,
  run: async ({ pond }: RunContext, { projects }) =>
    await (await import("./exclude.ts")).removeExcluded(pond, projects),
})
