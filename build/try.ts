/**
 * `bun run try`: pond's main job on this machine, through its own command line. Each line below is a command that a
 * user could type; it is printed before it runs, and the journey stops at the first that fails.
 */
import { join } from "node:path"

const MAIN = join(import.meta.dir, "../src/main.ts")

const JOURNEY: readonly (readonly string[])[] = [["--version"], ["doctor"], ["sync"]]

async function pond(words: readonly string[]): Promise<number> {
  console.log(`\n$ pond ${words.join(" ")}`)
  const child = Bun.spawn([process.execPath, MAIN, ...words], { stdio: ["inherit", "inherit", "inherit"] })
  return await child.exited
}

for (const words of JOURNEY) {
  process.exitCode = await pond(words)
  if (process.exitCode !== 0) break
}
