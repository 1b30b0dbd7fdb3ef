/** What the owner of a store erases. On no wire: who may ask over a port may not remove what is kept. */
import { defineLocalOperation, type RunContext } from "../operation.ts"
import { type EraseHooks, EraseInput, EraseOutput } from "./erase-shapes.ts"

export const erase = defineLocalOperation({
  name: "erase",
  summary: "Erase sessions with their sub-agents, forks and copies, and keep them from being stored again.",
  input: EraseInput,
  output: EraseOutput,
  errors: ["not_found", "conflict", "interrupted"],
  surfaces: { local: true, cli: "erase" },
  read: false,
  run: async (context: RunContext & EraseHooks, input) =>
    await (await import("./erase.ts")).eraseSessions(context, input),
})
