/**
 * `bun run try`: pond's main job on this machine, through its own command line. Each line below is a command that a
 * user could type; it is printed before it runs, and the journey stops at the first that fails. On a machine without any
 * session it says so, and `bun run try --demo` goes the same way over a corpus that it generates in a separate place.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeDemo } from "./corpus/demo.ts"

const MAIN = join(import.meta.dir, "../src/main.ts")
/** Done, but something in the sources was not whole: said, and no reason to stop. */
const NOT_WHOLE = 4

type Variables = Readonly<Record<string, string | undefined>>

async function pond(words: readonly string[], env: Variables): Promise<number> {
  console.log(`\n$ pond ${words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ")}`)
  const child = Bun.spawn([process.execPath, MAIN, ...words], { stdio: ["inherit", "inherit", "inherit"], env })
  const code = await child.exited
  return code === NOT_WHOLE ? 0 : code
}

async function journey(commands: readonly (readonly string[])[], env: Variables): Promise<number> {
  for (const words of commands) {
    const code = await pond(words, env)
    if (code !== 0) return code
  }
  return 0
}

/** How many sessions the store holds. */
function sessionsStored(env: Variables): number {
  const status = Bun.spawnSync([process.execPath, MAIN, "search", "the", "--json"], { env, stderr: "ignore" })
  const answer = JSON.parse(status.stdout.toString() || "{}") as { readonly matched_total?: number }
  return answer.matched_total ?? 0
}

async function onThisMachine(): Promise<number> {
  const code = await journey([["--version"], ["doctor"], ["sync"]], process.env)
  if (code !== 0) return code
  if (sessionsStored(process.env) > 0) return await journey([["search", "error", "--limit", "3"]], process.env)
  console.log(
    "\nThere is no session of a coding agent on this machine yet. To see pond at work all the same, add --demo:",
  )
  console.log("it generates sessions in a temporary home, stores them there, and removes everything afterwards.")
  return 0
}

async function onDemo(): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), "pond-demo-"))
  const env = { PATH: process.env["PATH"], HOME: home }
  try {
    writeDemo(home)
    const commands = [["sync"], ["search", "why was a customer charged twice"], ["search", "--mode", "exact", "ENOENT"]]
    return await journey(commands, env)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

process.exitCode = await (process.argv.includes("--demo") ? onDemo() : onThisMachine())
