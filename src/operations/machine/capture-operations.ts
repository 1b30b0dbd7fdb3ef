/** Keeping what a job of a CI server leaves behind. Loads its work when it runs. */
import { Type } from "typebox"
import { choice, nullable, text } from "../fields.ts"
import { closedObject, defineLocalOperation, type RunContext } from "../operation.ts"

export const capture = defineLocalOperation({
  name: "capture",
  summary: "Store the sessions of a job, and write each as a page without credentials.",
  input: closedObject({
    since: text("Only write and name sessions active since then: 2026-01-31, 6h, or a moment in RFC 3339."),
    artifacts: text("Write each session to this directory as a redacted page."),
    printed: text(
      "Also store the output, saved in this file, of a client that kept no session: stream-json, or a JSON list.",
    ),
    format: choice(["md", "html"], "The format of these pages.", "md"),
  }),
  output: closedObject({
    sessions: Type.Array(
      closedObject({
        session_id: Type.String(),
        source_agent: Type.String(),
        project: Type.String(),
        messages_count: Type.Integer(),
        title: Type.Optional(Type.String()),
        file: nullable(Type.String(), { description: "Its page." }),
      }),
    ),
    messages: Type.Integer({ description: "Messages that are new in the store." }),
    failed: Type.Integer({ description: "Sessions that could not be stored." }),
    credentials: Type.Integer({ description: "Places in the pages where a credential was taken out." }),
  }),
  errors: ["conflict", "interrupted", "not_found"],
  surfaces: { local: true, cli: "capture" },
  read: false,
  run: async ({ pond, signal }: RunContext, request) => {
    const work = await import("./capture.ts")
    return await work.capture(pond, request, signal)
  },
})
