/** citty holds the verbs and their arguments, and loads the file of the verb that it dispatches to, and no other. */
import { expect, test } from "bun:test"
import { type CommandDef, runCommand } from "citty"
import { flag, GLOBAL_FLAGS } from "../../src/cli/flags.ts"
import { commandTree, pathOf } from "../../src/cli/frame/command-tree.ts"
import { findVerb } from "../../src/cli/frame/parse-arguments.ts"
import { VERBS } from "../../src/cli/registry.ts"
import { defineVerb, type Verb, type VerbRow } from "../../src/cli/verb.ts"

async function dispatch(line: string, verbs: readonly VerbRow[]) {
  const loaded: string[] = []
  const ran: { readonly verb: Verb; readonly rest: readonly string[] }[] = []
  let cleanups = 0
  const rows = verbs.map((row) => ({
    ...row,
    load: async () => {
      loaded.push(row.name)
      return await row.load()
    },
  }))
  const tree = commandTree(rows, {
    run: (verb, rest) => Promise.resolve(void ran.push({ verb, rest })),
    cleanup: () => Promise.resolve(void cleanups++),
  })
  const route = findVerb(line.split(" "), rows)
  if (route === undefined) throw new Error(`no verb in ${line}`)
  await runCommand(tree, { rawArgs: pathOf(route, rows) })
  return { loaded, ran, cleanups }
}

test.each(VERBS.map(({ name, load }) => ({ name, load })))("citty dispatches to $name", async ({ name, load }) => {
  const { loaded, ran, cleanups } = await dispatch(`--json ${name} --quiet --limit 3 -- list`, VERBS)
  expect(loaded).toEqual([name])
  expect(ran).toEqual([{ verb: await load(), rest: ["--json", "--quiet", "--limit", "3", "--", "list"] }])
  expect(cleanups).toBe(1)
})

test("a verb may be the first word of others", async () => {
  const [config, set] = [
    defineVerb({ flags: {}, positionals: [], examples: [], run: () => Promise.resolve({ exitCode: 0 }) }),
    defineVerb({ flags: {}, positionals: [], examples: [], run: () => Promise.resolve({ exitCode: 0 }) }),
  ]
  const row = (name: string, verb: Verb): VerbRow => ({ name, group: "care", summary: "", load: async () => verb })
  const rows = [row("config", config), row("config set", set)]
  expect((await dispatch("config", rows)).ran).toEqual([{ verb: config, rest: [] }])
  expect((await dispatch("config key", rows)).ran).toEqual([{ verb: config, rest: ["key"] }])
  expect((await dispatch("config set key value", rows)).ran).toEqual([{ verb: set, rest: ["key", "value"] }])
})

test("citty knows the arguments of each verb, and requires none: pond says what is missing", async () => {
  const verb = defineVerb({
    flags: { output: flag.text("The file to write.", "FILE", { short: "o" }), force: flag.onOff("Overwrite it.") },
    positionals: [{ name: "id", summary: "The id.", count: "one" }],
    examples: [],
    run: () => Promise.resolve({ exitCode: 0 }),
  })
  const tree = commandTree([{ name: "get", group: "care", summary: "Show it.", load: async () => verb }], {
    run: () => Promise.resolve(),
    cleanup: () => Promise.resolve(),
  })
  const { get } = tree.subCommands as Record<string, () => Promise<CommandDef>>
  const command = await get?.()
  const args = command?.args as Record<string, object>
  expect(command?.meta).toEqual({ name: "get", description: "Show it." })
  expect(args["output"]).toEqual({ type: "string", description: "The file to write.", valueHint: "FILE", alias: "o" })
  expect(args["force"]).toEqual({ type: "boolean", description: "Overwrite it." })
  expect(args["id"]).toEqual({ type: "positional", description: "The id.", required: false })
  expect(Object.keys(args)).toEqual(["id", ...Object.keys(GLOBAL_FLAGS), "output", "force"])
})
