/**
 * The runtime that the executable carries. By two variables of the environment any program of Bun becomes another one:
 * `BUN_OPTIONS` makes it load a file first, and `BUN_BE_BUN` makes it the runtime alone, with a package manager and a
 * shell. The build has no switch against them, so their names are taken out of the runtime.
 */
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { BuildFailure, type Target } from "./targets.ts"

const VARIABLES = ["BUN_OPTIONS", "BUN_BE_BUN"] as const

/** Makes the runtime in the folder, and returns its path. It is signed anew with what is put into it. */
export async function makeRuntime({ runtime }: Target, folder: string): Promise<string> {
  const [entry, path] = [join(folder, "empty.ts"), join(folder, "runtime")]
  writeFileSync(entry, "")
  const made = await Bun.build({ entrypoints: [entry], compile: { target: runtime, outfile: path }, throw: false })
  if (!made.success) throw new BuildFailure(made.logs.map(String).join("\n"))
  const bytes = readFileSync(path)
  for (const name of VARIABLES) erase(bytes, name)
  writeFileSync(path, bytes)
  chmodSync(path, 0o755)
  return path
}

/** No variable has a name that begins with a zero byte. */
function erase(bytes: Buffer, name: string): void {
  const first = bytes.indexOf(name)
  if (first < 0) throw new BuildFailure(`The runtime does not know ${name} any more: look at what it reads instead.`)
  for (let at = first; at >= 0; at = bytes.indexOf(name, at + 1)) bytes[at] = 0
}
