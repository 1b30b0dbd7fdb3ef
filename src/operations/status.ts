/** What the store holds, cheaply: counts that the engine keeps, and nothing that scans. */
import { type Static, Type } from "typebox"
import { VERSION } from "../platform/version.ts"
import { closedObject, defineOperation } from "./operation.ts"

const StatusOutput = closedObject({
  version: Type.String(),
  store: Type.String(),
  namespace: Type.String(),
  sessions: Type.Integer(),
  messages: Type.Integer(),
  parts: Type.Integer(),
  blobs: Type.Integer(),
})
export type StatusOutput = Static<typeof StatusOutput>

export const status = defineOperation({
  name: "status",
  summary: "What the store holds.",
  input: closedObject({}),
  output: StatusOutput,
  errors: [],
  run: async ({ pond }) => {
    const sessions = await pond.sessions()
    return {
      version: VERSION,
      store: sessions.store.location.shown,
      namespace: pond.namespace(),
      ...(await sessions.counts()),
    }
  },
})
