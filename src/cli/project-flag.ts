/** What a project is called on a command line: a part of its path, or a directory as a shell knows it. */
import { existsSync, realpathSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

/** `.`, `..`, `./x` and `/x` are directories; anything else is a part of a path. */
const DIRECTORY = /^(?:\.{1,2}$|\.{0,2}\/)/

export function projectFilterOf(text: string): { readonly within: string } | { readonly contains: string } {
  if (!DIRECTORY.test(text)) return { contains: text }
  return text === "." ? here() : { within: realDirectory(text) }
}

/** The repository that this directory is in, or the directory itself outside of any. */
export function here(): { readonly within: string } {
  const start = realDirectory(".")
  for (let at = start; dirname(at) !== at; at = dirname(at)) if (existsSync(join(at, ".git"))) return { within: at }
  return { within: start }
}

/** As a client that is started there is told it: no link to it. */
export function realDirectory(text: string): string {
  const whole = resolve(text)
  return existsSync(whole) ? realpathSync(whole) : whole
}
