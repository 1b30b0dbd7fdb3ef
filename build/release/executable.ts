/** Makes one executable: bundles the product with the native libraries of its target inside. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { isBuiltin } from "node:module"
import { dirname, join } from "node:path"
import { pageAssets } from "../../src/http/page-assets.ts"
import type { EmbeddedNative, NativeName } from "../../src/platform/native/native-assets.ts"
import { THREAD_ENTRIES } from "../../src/platform/threads.ts"
import { assertRewritten, embeddedNative, embedding } from "./embed.ts"
import { type NativeFiles, nativesOf } from "./natives.ts"
import { ROOT } from "./packages.ts"
import { makeRuntime } from "./runtime.ts"
import { BuildFailure, type Target } from "./targets.ts"

const LEVEL_BEST = 22
const LEVEL_FAST = 9

/** What the script of the page has inside, which is bundled apart. */
const PAGE_PACKAGES = [join(ROOT, "node_modules/preact/dist/preact.mjs")]

/** Which functions everyday commands run, on any machine (`build/record-order.ts`). */
export const COMMANDS_ORDER = join(ROOT, "build/release/commands.order")

export interface Order {
  readonly target: Target
  readonly out: string
  /** Compress the libraries as well as can be: a tenth smaller, and minutes slower the first time. */
  readonly isRelease: boolean
  /** The page of the project, below which `pond upgrade` looks for releases. */
  readonly homepage?: string | undefined
}

export interface Made {
  /** Every package of which something is inside, as directories. */
  readonly packages: readonly string[]
}

export async function makeExecutable(order: Order): Promise<Made> {
  const { target, out } = order
  const natives = await nativesOf(target)
  mkdirSync(dirname(out), { recursive: true })
  // The bundler leaves the source maps beside what it makes, though the executable carries them; only the file counts.
  const workshop = mkdtempSync(join(dirname(out), ".build-"))
  try {
    const runtime = await makeRuntime(target, workshop)
    const inputs = await bundle(order, natives, { runtime, outfile: join(workshop, "pond") })
    renameSync(join(workshop, "pond"), out)
    return { packages: packagesOf([...inputs, ...PAGE_PACKAGES, ...natives.map(({ addon }) => addon)]) }
  } finally {
    rmSync(workshop, { recursive: true })
  }
}

interface Places {
  /** Of the runtime that goes into it. */
  readonly runtime: string
  readonly outfile: string
}

async function bundle(order: Order, found: readonly NativeFiles[], places: Places): Promise<string[]> {
  const level = order.isRelease ? LEVEL_BEST : LEVEL_FAST
  const natives = new Map<NativeName, EmbeddedNative>()
  for (const files of found) natives.set(files.native, await embeddedNative(files, level))
  const webRuntime = found.find((files) => files.webRuntime !== undefined)?.webRuntime
  const result = await Bun.build({
    entrypoints: ["src/main.ts", ...THREAD_ENTRIES].map((entry) => join(ROOT, entry)),
    root: ROOT,
    target: "bun",
    format: "esm",
    bytecode: true,
    // What a verb does not use stays in a chunk that is not read.
    splitting: true,
    // Elysia reads the source of the handlers it is given, so names of parameters must survive.
    minify: { whitespace: true, syntax: true, identifiers: false },
    sourcemap: "linked",
    metafile: true,
    // pond starts in the directories of strangers: what lies there must not configure it, let alone run in it.
    compile: {
      target: order.target.runtime,
      executablePath: places.runtime,
      outfile: places.outfile,
      bytecodeOrder: COMMANDS_ORDER,
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    plugins: [embedding(natives, { page: await pageAssets(), homepage: order.homepage }, webRuntime)],
    throw: false,
  })
  const wrong = result.logs.filter((log) => log.level === "error" || log.level === "warning")
  if (!result.success || wrong.length > 0) throw new BuildFailure(wrong.map(String).join("\n"))
  const inputs = result.metafile?.inputs ?? {}
  assertNothingLeftOut(inputs)
  assertRewritten(Object.keys(inputs), webRuntime !== undefined)
  return Object.keys(inputs).map((path) => join(ROOT, path))
}

type Inputs = Bun.BuildMetafile["inputs"]

/** A package that is imported and not inside would be looked for on the user's disk, where a stranger could put one. */
function assertNothingLeftOut(inputs: Inputs): void {
  const outside = Object.entries(inputs).flatMap(([file, { imports }]) =>
    imports
      .filter((each) => each.external === true && !isInside(each) && !isUnused(file, each.path))
      .map((each) => `${file} imports ${each.path}`),
  )
  if (outside.length > 0) throw new BuildFailure(`The executable would lack what it needs:\n${outside.join("\n")}`)
}

/** A list of exports of a package names files of it that nothing asks for. The bundler leaves them out. */
function isUnused(file: string, path: string): boolean {
  return file.includes("node_modules/") && path.startsWith("./") && existsSync(join(ROOT, dirname(file), path))
}

/** Another chunk of the executable, or a part of the runtime. */
function isInside({ path, entryPoint }: Inputs[string]["imports"][number]): boolean {
  return entryPoint !== undefined || path === "bun" || path.startsWith("bun:") || isBuiltin(path)
}

/** The directory of the innermost package that a file lies in; files of pond itself lie in none. */
function packagesOf(paths: readonly string[]): string[] {
  const found = paths.map((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/@.][^/]*(?=\/)/.exec(path)?.[0])
  return [...new Set(found.filter((directory) => directory !== undefined))]
}
