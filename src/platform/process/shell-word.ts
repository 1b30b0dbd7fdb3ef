/** Words as a shell reads them back. */
import { visible } from "../../model/visible.ts"

/** For commands that people copy and schedulers run. */
export function shellWord(word: string): string {
  return /^(?!=)[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** On one line that is safe to print: what cannot be seen is spelled out by its bytes, which bash, zsh and ksh read and others refuse. */
export function shownShellWord(word: string): string {
  if (visible(word) === word && !/[\t\n]/.test(word)) return shellWord(word)
  const spelled = Array.from(word, (sign) => {
    if (sign === "'" || sign === "\\") return `\\${sign}`
    if (visible(sign) === sign && !/[\t\n]/.test(sign)) return sign
    return Array.from(new TextEncoder().encode(sign), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")
  })
  return `$'${spelled.join("")}'`
}

/** A command for people to copy: quoted so that a shell reads each word back as one word. */
export function shownCommand(words: readonly string[]): string {
  return words.map(shownShellWord).join(" ")
}

/**
 * A command of pond that is printed, on any surface: `pond get ID --after ID`. Ids come from files that anybody may have
 * written. One that begins with a dash stands behind `--`, or behind its flag's `=`, and is taken for no flag.
 */
export function pondCommand(verb: string, operand: string, flags: Readonly<Record<string, string>> = {}): string {
  const options = Object.entries(flags).flatMap(([name, value]) =>
    value.startsWith("-") ? [`--${name}=${value}`] : [`--${name}`, value],
  )
  const words = operand.startsWith("-") ? [...options, "--", operand] : [operand, ...options]
  return shownCommand(["pond", verb, ...words])
}
