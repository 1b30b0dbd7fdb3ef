/** `bun run check`: the one gate. Types, format and lint, unused code, and the rules of the house, side by side. */
import { join } from "node:path"

const ROOT = join(import.meta.dir, "..")

const STEPS: readonly (readonly [name: string, command: readonly string[]])[] = [
  ["types", ["node_modules/.bin/tsc", "--noEmit"]],
  ["types of the page", ["node_modules/.bin/tsc", "--noEmit", "-p", "src/page"]],
  ["format and lint", ["node_modules/.bin/biome", "check", "--error-on-warnings", "."]],
  ["unused code", ["node_modules/.bin/knip"]],
  ["rules of the house", [process.execPath, "test", "--timeout", "60000", "test/house"]],
]

async function run(name: string, command: readonly string[]): Promise<boolean> {
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, NO_COLOR: "1" },
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${name}`)
  if (code !== 0) console.log(`${out}${err}`)
  return code === 0
}

const results = await Promise.all(STEPS.map(([name, command]) => run(name, command)))
process.exitCode = results.every(Boolean) ? 0 : 1
