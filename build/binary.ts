/**
 * `bun run build`: the one executable, `dist/pond`. `--target NAME` and `--all` build for other machines, as
 * `dist/pond-NAME`. `--release` compresses the libraries as well as can be, which takes minutes the first time. `--out`
 * names another file.
 */
import { statSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { makeExecutable, type Order } from "./release/executable.ts"
import { ROOT } from "./release/packages.ts"
import { BuildFailure, hostTarget, orFailure, TARGET_NAMES, targetNamed } from "./release/targets.ts"

function ordersFrom(args: readonly string[]): Order[] {
  const { values } = parseArgs({
    args: [...args],
    options: {
      target: { type: "string", multiple: true, default: [] },
      all: { type: "boolean", default: false },
      release: { type: "boolean", default: false },
      out: { type: "string" },
    },
  })
  const names = values.all ? TARGET_NAMES : values.target
  const isRelease = values.release
  if (names.length === 0)
    return [{ isRelease, target: hostTarget(), out: resolve(values.out ?? join(ROOT, "dist/pond")) }]
  if (values.out !== undefined && names.length > 1) throw new BuildFailure("--out names one file: give one --target.")
  return names.map((name) => {
    const out = resolve(values.out ?? join(ROOT, `dist/pond-${name}`))
    return { isRelease, target: targetNamed(name), out }
  })
}

/** Every target is tried; those that fail are said at the end, each with its reason. */
async function main(): Promise<number> {
  const failures: string[] = []
  for (const order of ordersFrom(Bun.argv.slice(2))) {
    const started = performance.now()
    const message = await makeExecutable(order).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof BuildFailure) return error.message
        throw error
      },
    )
    if (message !== undefined) {
      failures.push(message)
      continue
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    console.log(`${order.out}  ${(statSync(order.out).size / 1e6).toFixed(0)} MB  ${order.target.name}  ${seconds} s`)
  }
  for (const message of failures) console.error(message.replaceAll(/^/gm, "build: "))
  return failures.length === 0 ? 0 : 1
}

process.exitCode = await orFailure("build", main)
