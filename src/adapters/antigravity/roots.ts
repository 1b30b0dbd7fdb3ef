/** Where Antigravity keeps conversations: a folder for each of its programs, beside that of Gemini CLI. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

const PROGRAM = /^antigravity(?:-[\w-]{1,60})?$/

export function roots(environment: Environment, home: string): readonly string[] {
  const gemini = environment["GEMINI_HOME"] || join(home, ".gemini")
  const usual = join(gemini, "antigravity-cli")
  const others = (existsSync(gemini) ? readdirSync(gemini) : []).filter((name) => PROGRAM.test(name))
  return [usual, ...others.map((name) => join(gemini, name)).filter((place) => place !== usual)]
}
