/** Colour and weight, where the reader is a terminal that did not ask for none; plain text otherwise. */
import type { Environment } from "../platform/environment.ts"

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const

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
    yellow: paint(CODES.yellow),
    cyan: paint(CODES.cyan),
  }
}

/** `NO_COLOR` counts when it is set to anything but nothing. */
export function mayColor(environment: Environment, isTerminal: boolean): boolean {
  const isRefused = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb"
  return isTerminal && !isRefused
}
