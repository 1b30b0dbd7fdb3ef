/** What the owner of sessions lets others read. On no wire: what leaves the machine is decided at it. */
import { defineLocalOperation, type RunContext } from "../../operation.ts"
import { type ShareHooks, ShareInput, ShareOutput, UnshareInput, UnshareOutput } from "./share-shapes.ts"

export const share = defineLocalOperation({
  name: "share",
  summary: "Publish sessions as pages without credentials in storage that you own, and print the link.",
  input: ShareInput,
  output: ShareOutput,
  errors: ["not_found", "interrupted", "storage_unavailable", "would_overwrite"],
  surfaces: { local: true, cli: "share" },
  read: false,
  run: async (context: RunContext & ShareHooks, input) =>
    await (await import("./share-sessions.ts")).shareSessions(context, input),
})

export const unshare = defineLocalOperation({
  name: "unshare",
  summary: "Delete what was shared from this machine.",
  input: UnshareInput,
  output: UnshareOutput,
  errors: ["not_found", "storage_unavailable"],
  surfaces: { local: true, cli: "unshare" },
  read: false,
  run: async (context: RunContext, input) =>
    await (await import("./share-sessions.ts")).unshareSessions(context, input),
})
