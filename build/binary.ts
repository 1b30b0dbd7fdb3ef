/**
 * `bun run build`: the one executable, `dist/pond`. `--target NAME` and `--all` build for other machines, as
 * `dist/pond-NAME`. `--release` compresses the libraries as well as can be, which takes minutes the first time. `--out`
 * names another file.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { parseArgs } from "node:util"
import type { EmbeddedNative, NativeName } from "../src/platform/native-assets.ts"
import { embeddedNative, embedding } from "./embed.ts"
import { type NativeFiles, nativesOf } from "./natives.ts"
import { ROOT } from "./packages.ts"
import { BuildFailure, hostTarget, TARGET_NAMES, type Target, targetNamed } from "./targets.ts"

const LEVEL_BEST = 19
const LEVEL_FAST = 9

interface Order {
  readonly target: Target
  readonly out: string
  readonly level: number
}

async function buildOne(order: Order): Promise<void> {
  const started = performance.now()
  const { target, out } = order
  const found = await nativesOf(target)
  mkdirSync(dirname(out), { recursive: true })
  // The bundler leaves the source maps beside what it makes, though the executable carries them; only the file counts.
  const workshop = mkdtempSync(join(dirname(out), ".build-"))
  try {
    await bundle(order, found, join(workshop, "pond"))
    renameSync(join(workshop, "pond"), out)
  } finally {
    rmSync(workshop, { recursive: true })
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${out}  ${(statSync(out).size / 1e6).toFixed(0)} MB  ${target.name}  ${seconds} s`)
}

async function bundle({ target, level }: Order, found: readonly NativeFiles[], outfile: string): Promise<void> {
  const natives = new Map<NativeName, EmbeddedNative>()
  for (const files of found) natives.set(files.native, await embeddedNative(files, level))
  const webRuntime = found.find((files) => files.webRuntime !== undefined)?.webRuntime
  const result = await Bun.build({
    entrypoints: [join(ROOT, "src/main.ts")],
    root: ROOT,
    target: "bun",
    format: "esm",
    bytecode: true,
    // What a verb does not use stays in a chunk that is not read.
    splitting: true,
    // Elysia reads the source of the handlers it is given, so names of parameters must survive.
    minify: { whitespace: true, syntax: true, identifiers: false },
    sourcemap: "linked",
    // pond starts in the directories of strangers: what lies there must not configure it, let alone run in it.
    compile: { target: target.runtime, outfile, autoloadDotenv: false, autoloadBunfig: false },
    plugins: [embedding(natives, webRuntime)],
    throw: false,
  })
  const wrong = result.logs.filter((log) => log.level === "error" || log.level === "warning")
  if (!result.success || wrong.length > 0) throw new BuildFailure(wrong.map(String).join("\n"))
}

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
  const rest = { level: values.release ? LEVEL_BEST : LEVEL_FAST }
  if (names.length === 0)
    return [{ ...rest, target: hostTarget(), out: resolve(values.out ?? join(ROOT, "dist/pond")) }]
  if (values.out !== undefined && names.length > 1) throw new BuildFailure("--out names one file: give one --target.")
  return names.map((name) => ({
    ...rest,
    target: targetNamed(name),
    out: resolve(values.out ?? join(ROOT, `dist/pond-${name}`)),
  }))
}

/** Every target is tried; those that fail are said at the end, each with its reason. */
async function main(args: readonly string[]): Promise<number> {
  const failures: string[] = []
  for (const order of ordersFrom(args)) {
    try {
      await buildOne(order)
    } catch (error) {
      if (!(error instanceof BuildFailure)) throw error
      failures.push(error.message)
    }
  }
  for (const message of failures) console.error(message.replaceAll(/^/gm, "build: "))
  return failures.length === 0 ? 0 : 1
}

process.exitCode = await main(Bun.argv.slice(2)).catch((error) => {
  if (!(error instanceof BuildFailure)) throw error
  console.error(`build: ${error.message}`)
  return 2
})
