/** Names, stars, tags and notes of a session: what a person says about it, kept apart from what its client recorded. */
import { Type } from "typebox"
import { onOff, texts } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"

export const label = defineOperation({
  name: "label",
  summary: "Name, star, tag or annotate a session; without changes, show its labels.",
  input: closedObject({
    session_id: Type.String({ minLength: 1, description: "The session." }),
    name: Type.Optional(
      Type.String({ maxLength: 500, description: "The name to show in lists. Empty text removes it." }),
    ),
    star: onOff("Mark it with a star."),
    unstar: onOff("Remove the star."),
    tags: texts("Add this tag."),
    untag: texts("Remove this tag."),
    note: Type.Optional(Type.String({ maxLength: 20_000, description: "A note about it. Empty text removes it." })),
  }),
  output: closedObject({
    session_id: Type.String(),
    name: Type.Optional(Type.String()),
    starred: Type.Boolean(),
    tags: Type.Array(Type.String()),
    note: Type.Optional(Type.String()),
  }),
  errors: ["not_found"],
  surfaces: { http: true, cli: "label" },
  read: false,
  run: async ({ pond }, input) => {
    const { tags, ...rest } = await (await import("../store/labels.ts")).labelSession(pond, input)
    return { ...rest, tags: [...tags] }
  },
})
