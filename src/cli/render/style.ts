/**
 * Colour and weight, where the reader is a terminal that did not ask for none; plain text otherwise. Only colours that are read
 * on white as well as on black: no yellow, and nothing bright. None says what its word does not say too.
 */
import type { Environment } from "../../platform/host/environment.ts"

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const

export type Style = Readonly<Record<keyof typeof CODES, (text: string) => string>>

export function createStyle(isColored: boolean): Style {
  const paint =
    ([open, close]: readonly [number, number]) =>
    (text: string) =>
      isColored && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return {
    bold: paint(CODES.bold),
    dim: paint(CODES.dim),
    red: paint(CODES.red),
    green: paint(CODES.green),
    magenta: paint(CODES.magenta),
    cyan: paint(CODES.cyan),
  }
}

export type ColorChoice = "auto" | "always" | "never"

/**
 * A flag decides before the environment, and the environment before the terminal. `NO_COLOR`, `FORCE_COLOR` and
 * `CLICOLOR_FORCE` count unless they are empty or, for the last two, 0.
 */
export function mayColor(environment: Environment, isTerminal: boolean, choice: ColorChoice = "auto"): boolean {
  if (choice !== "auto") return choice === "always"
  if ((environment["NO_COLOR"] ?? "") !== "") return false
  const isForced = ["FORCE_COLOR", "CLICOLOR_FORCE"].some((name) => !["", "0"].includes(environment[name] ?? ""))
  return isForced || (isTerminal && environment["TERM"] !== "dumb")
}
