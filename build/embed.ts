/**
 * What the bundler does for the executable beyond bundling: puts the compressed libraries of the target in, points the
 * packages that load an addon to `src/platform/native.ts`, and gives every package the one Arrow that the engine uses.
 * Each rewrite knows the shape of the file it replaces and fails the build where that shape has changed.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { BunPlugin } from "bun"
import type { EmbeddedFile, EmbeddedNative, NativeName } from "../src/platform/native-assets.ts"
import { compressed } from "./compress.ts"
import type { NativeFiles } from "./natives.ts"
import { ROOT } from "./packages.ts"
import { BuildFailure } from "./targets.ts"

type Rewrite = (source: string) => string

const NATIVE_MODULE = JSON.stringify(join(ROOT, "src/platform/native.ts"))

function load(name: NativeName): string {
  return `require(${NATIVE_MODULE}).loadNative(${JSON.stringify(name)})`
}

const REWRITES: readonly (readonly [path: RegExp, rewrite: Rewrite])[] = [
  [/@lancedb\/lancedb\/dist\/native\.js$/, lanceBinding],
  [/onnxruntime-node\/dist\/binding\.js$/, onnxruntimeBinding],
  [/@anush008\/tokenizers\/index\.js$/, () => `module.exports = ${load("tokenizers")}`],
  [/@duckdb\/node-bindings\/duckdb\.js$/, () => `module.exports = ${load("duckdb")}`],
]

/** Optional parts of packages that pond does not use. Left alone they would be looked for on the user's disk. */
const LEFT_OUT = /^(?:openai|@huggingface\/transformers|apache-arrow\/.*)$/

export function embedding(natives: ReadonlyMap<NativeName, EmbeddedNative>): BunPlugin {
  return {
    name: "pond-natives",
    setup(build) {
      build.onLoad({ filter: /src\/platform\/native-assets\.ts$/ }, () => ({
        loader: "js",
        contents: assetModule(natives),
      }))
      for (const [filter, rewrite] of REWRITES) {
        build.onLoad({ filter }, ({ path }) => ({ loader: "js", contents: rewrite(readFileSync(path, "utf8")) }))
      }
      build.onResolve({ filter: /^apache-arrow$/ }, () => ({
        path: join(ROOT, "node_modules/apache-arrow/Arrow.node.js"),
      }))
      build.onResolve({ filter: LEFT_OUT }, ({ path }) => ({ path, namespace: "left-out" }))
      build.onLoad({ filter: /.*/, namespace: "left-out" }, ({ path }) => ({
        loader: "js",
        contents: `throw new Error(${JSON.stringify(`pond does not carry ${path}`)})`,
      }))
    },
  }
}

export async function embeddedNative(files: NativeFiles, level: number): Promise<EmbeddedNative> {
  const addon = await compressed(files.addon, level)
  const beside: EmbeddedFile[] = []
  for (const path of files.beside) beside.push(await compressed(path, level))
  const hash = new Bun.CryptoHasher("sha256")
  for (const file of [addon, ...beside]) hash.update(`${file.name} ${file.sha256}\n`)
  return { origin: files.origin, contentHash: hash.digest("hex").slice(0, 32), addon, beside }
}

/** The module that stands for `native-assets.ts`: the same table, whose assets are imports of files. */
function assetModule(natives: ReadonlyMap<NativeName, EmbeddedNative>): string {
  const imports: string[] = []
  const embed = (file: EmbeddedFile): string => {
    const name = `asset${imports.length}`
    imports.push(`import ${name} from ${JSON.stringify(file.asset)} with { type: "file" }`)
    return `{ ...${JSON.stringify({ ...file, asset: undefined })}, asset: ${name} }`
  }
  const rows = [...natives].map(([name, { addon, beside, ...rest }]) => {
    const files = `addon: ${embed(addon)}, beside: [${beside.map(embed).join(", ")}]`
    return `${JSON.stringify(name)}: { ...${JSON.stringify(rest)}, ${files} }`
  })
  return `${imports.join("\n")}\nexport const EMBEDDED_NATIVES = { ${rows.join(", ")} }\n`
}

// --- Rewrites of the packages ----------------------------------------------------------------------------------------

/** Its exports are named one by one, as the original does it: that is where an import by name finds them. */
function lanceBinding(source: string): string {
  const names = [...source.matchAll(/^module\.exports\.(\w+) = nativeBinding\.\w+;/gm)].map((match) => match[1])
  if (names.length < 10) throw new BuildFailure("@lancedb/lancedb loads its addon in another way than the build knows.")
  const exported = names.map((name) => `module.exports.${name} = binding.${name};`)
  return `const binding = ${load("lance")};\nmodule.exports = binding;\n${exported.join("\n")}\n`
}

function onnxruntimeBinding(source: string): string {
  const rewritten = source.replace(/require\(`\.\.\/bin\/napi-v3\/[^)]*\)/, load("onnxruntime"))
  if (rewritten === source)
    throw new BuildFailure("onnxruntime-node loads its addon in another way than the build knows.")
  return rewritten
}
