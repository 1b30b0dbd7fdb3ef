/**
 * The tree of verbs with their arguments, as citty holds it: `pond schedule start` is a command under a command, and its
 * file is loaded when citty comes to it. citty dispatches and cleans up. What it does not do is laid over it in
 * `parse-arguments.ts`: it takes any flag, the last of repeated ones, and answers a mistake without the nearest name. So
 * nothing is required here, and a verb reads the words that citty hands it strictly.
 */
import { type ArgsDef, type CommandDef, defineCommand } from "citty"
import { VERSION } from "../../platform/host/version.ts"
import { type Flags, GLOBAL_FLAGS } from "../flags.ts"
import { TAGLINE } from "../help/render-help.ts"
import type { Positional, Verb, VerbRow } from "../verb.ts"
import type { Route } from "./parse-arguments.ts"

export interface CommandHooks {
  /** Runs a verb with what follows it on the command line. */
  readonly run: (verb: Verb, rest: readonly string[]) => Promise<void>
  /** Runs behind it, also when it failed. */
  readonly cleanup: () => Promise<void>
}

export function commandTree(verbs: readonly VerbRow[], hooks: CommandHooks): CommandDef {
  return defineCommand({
    meta: { name: "pond", version: VERSION, description: TAGLINE },
    args: argumentsOf(GLOBAL_FLAGS, []),
    subCommands: commandsBelow("", verbs, hooks),
  })
}

/** The words that lead through the tree to a verb, then the rest of the command line. */
export function pathOf({ row, rest }: Route, verbs: readonly VerbRow[]): string[] {
  const words = row.name.split(" ")
  return [...words, ...(isGroup(row.name, verbs) ? words.slice(-1) : []), ...rest]
}

type Commands = Record<string, CommandDef | (() => Promise<CommandDef>)>

function commandsBelow(prefix: string, verbs: readonly VerbRow[], hooks: CommandHooks): Commands {
  const words = new Set(
    verbs
      .filter(({ name }) => name.startsWith(prefix))
      .flatMap(({ name }) => name.slice(prefix.length).split(" ").slice(0, 1)),
  )
  return Object.fromEntries(
    [...words].map((word) => {
      const name = `${prefix}${word}`
      const row = verbs.find((each) => each.name === name)
      const own: Commands = row === undefined ? {} : { [word]: async () => commandOf(row, await row.load(), hooks) }
      if (!isGroup(name, verbs)) return [word, own[word] ?? {}]
      // A verb that is also the first word of others, such as a `config` beside `config set`, is one of them.
      const below = { ...own, ...commandsBelow(`${name} `, verbs, hooks) }
      return [word, defineCommand({ meta: { name }, subCommands: below })]
    }),
  )
}

function isGroup(name: string, verbs: readonly VerbRow[]): boolean {
  return verbs.some((each) => each.name.startsWith(`${name} `))
}

function commandOf({ name, summary }: VerbRow, verb: Verb, { run, cleanup }: CommandHooks): CommandDef {
  return defineCommand({
    meta: { name, description: summary },
    args: argumentsOf({ ...GLOBAL_FLAGS, ...verb.flags }, verb.positionals),
    run: ({ rawArgs }) => run(verb, rawArgs),
    cleanup,
  })
}

function argumentsOf(flags: Flags, positionals: readonly Positional[]): ArgsDef {
  const named = Object.entries(flags).map(([name, { summary: description, hint, short }]) => [
    name,
    {
      type: hint === undefined ? ("boolean" as const) : ("string" as const),
      description,
      ...(hint === undefined ? {} : { valueHint: hint }),
      ...(short === undefined ? {} : { alias: short }),
    },
  ])
  const words = positionals.map(({ name, summary: description }) => [
    name,
    { type: "positional" as const, description, required: false },
  ])
  return Object.fromEntries([...words, ...named])
}
