/** The project filter of searches and lists. */
import { type Static, Type } from "typebox"
import { PondError } from "../../model/errors.ts"
import { text } from "../fields.ts"
import { closedObject } from "../operation.ts"

export const ProjectFilter = Type.Optional(
  closedObject({
    contains: text("Part of the project's path."),
    equals: text("The project's full path."),
    regex: text("A regular expression for the project's path."),
    within: text("The project's directory, or one above it, as a full path."),
  }),
)
type ProjectFilter = NonNullable<Static<typeof ProjectFilter>>

export function exactlyOne(project: ProjectFilter): ProjectFilter {
  if (Object.keys(project).length === 1) return project
  const known = "contains, equals, regex and within"
  throw new PondError("validation_failed", `The project filter takes exactly one of ${known}.`, {
    details: {
      faults: [{ path: "/filters/project", message: `must have exactly one of ${known.replace(" and", ",")}` }],
    },
  })
}
