/** The two shapes in which clients keep the command of an MCP server. */
import { type ConfigValue, isTable } from "../../platform/edit/editable.ts"
import type { Registration } from "../registration.ts"

type Shape = Pick<Registration, "entry" | "commandOf">

/** `command` is the program, `args` what follows it: most clients. `beside` stands before them. */
export function programAndArguments(beside: { readonly [key: string]: ConfigValue } = {}): Shape {
  return {
    entry: ([program = "", ...args]) => ({ ...beside, command: program, args }),
    commandOf: (entry) => {
      if (!isTable(entry)) return undefined
      const { command, args = [] } = entry
      return typeof command === "string" && areTexts(args) ? [command, ...args] : undefined
    },
  }
}

/** `command` is the whole of it, as a list. */
export function wholeCommand(beside: { readonly [key: string]: ConfigValue } = {}): Shape {
  return {
    entry: (command) => ({ ...beside, command: [...command] }),
    commandOf: (entry) => (isTable(entry) && areTexts(entry["command"]) ? entry["command"] : undefined),
  }
}

function areTexts(value: ConfigValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string")
}
