/**
 * Pond as one bundle, made once of what the sources are now: a process of the sources reads, translates and links hundreds
 * of modules before its first line runs, which is most of what a short verb costs. What the tests start is this.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { THREAD_ENTRIES } from "../../src/platform/threads.ts"

const ROOT = join(import.meta.dir, "../..")
const BUNDLES = join(ROOT, "dist/test")
const STRUCK = "test/support/struck.ts"
const WARM = "test/support/answers-lines.ts"
const MADE_OF = ["src", STRUCK, WARM, "test/support/bundled-pond.ts", "package.json", "bun.lock"]

/** Libraries, which no bundle holds, and what packages would use if it were there. */
const OUTSIDE = [
  ...["@lancedb/lancedb-*", "@duckdb/node-bindings*", "onnxruntime-node", "@anush008/tokenizers"],
  ...["openai", "@huggingface/transformers"],
]

const HOUR_MS = 3_600_000

const folder = await madeFolder()

/** `src/main.ts`. */
export const POND = join(folder, "src/main.ts")
/** `struck.ts`, which is pond and is struck in the middle. */
export const STRUCK_POND = join(folder, STRUCK)
/** `answers-lines.ts`, which runs many command lines. */
export const WARM_POND = join(folder, WARM)

/** Named by what it was made of. Whoever comes first puts it there, whole; who made another at the same time drops it. */
async function madeFolder(): Promise<string> {
  const made = join(BUNDLES, fingerprint())
  if (isThere(made)) return made
  mkdirSync(BUNDLES, { recursive: true })
  const draft = mkdtempSync(join(BUNDLES, ".draft-"))
  try {
    await bundleInto(draft)
    // Some tests start it as another user.
    chmodSync(draft, 0o755)
    removeOld()
    renameSync(draft, made)
  } catch (error) {
    if (!isThere(made)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return made
}

async function bundleInto(outdir: string): Promise<void> {
  await Bun.build({
    entrypoints: ["src/main.ts", STRUCK, WARM, ...THREAD_ENTRIES].map((entry) => join(ROOT, entry)),
    root: ROOT,
    outdir,
    // The entries keep their places, and `threads.ts` looks for a thread from two folders above the chunk that it is in.
    naming: { entry: "[dir]/[name].ts", chunk: "src/chunks/[name]-[hash].[ext]" },
    target: "bun",
    format: "esm",
    splitting: true,
    // A trace names the lines of the sources.
    sourcemap: "linked",
    external: OUTSIDE,
    plugins: [
      {
        name: "one-arrow",
        setup: (build) => {
          const path = join(ROOT, "node_modules/apache-arrow/Arrow.node.js")
          build.onResolve({ filter: /^apache-arrow$/ }, () => ({ path }))
        },
      },
    ],
  })
}

function fingerprint(): string {
  const hash = new Bun.CryptoHasher("sha256").update(Bun.version)
  for (const path of MADE_OF.flatMap(filesIn)) {
    const { size, mtimeMs } = statSync(join(ROOT, path))
    hash.update(`${path} ${size} ${mtimeMs}\n`)
  }
  return hash.digest("hex").slice(0, 16)
}

function filesIn(path: string): string[] {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path]
  const entries = readdirSync(join(ROOT, path), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort()
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

/** Of earlier sources, but for what a run that is not over may still read. */
function removeOld(): void {
  for (const name of readdirSync(BUNDLES)) {
    const path = join(BUNDLES, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat !== undefined && Date.now() - stat.mtimeMs > HOUR_MS) rmSync(path, { recursive: true, force: true })
  }
}
