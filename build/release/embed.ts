/**
 * What the bundler does for the executable beyond bundling: puts the compressed libraries of the target in, points the
 * packages that load an addon to `src/platform/native/native.ts`, and gives every package the one Arrow that the engine uses.
 * Each rewrite knows the shape of the file it replaces and fails the build where that shape has changed.
 */
import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import type { BunPlugin } from "bun"
import type { PageAssets } from "../../src/http/page-assets.ts"
import type { EmbeddedFile, EmbeddedNative, NativeName } from "../../src/platform/native/native-assets.ts"
import { compressed } from "./compress.ts"
import type { NativeFiles } from "./natives.ts"
import { ROOT } from "./packages.ts"
import { BuildFailure } from "./targets.ts"

type Rewrite = (source: string) => string

/**
 * Rewritten modules name files by these words and not by their paths: the source map carries the text of each module, and
 * the same commit has to give the same bytes wherever its tree is.
 */
const NATIVE_MODULE = "pond:native"
const FILE = /^pond:file\//

function load(name: NativeName): string {
  return `require("${NATIVE_MODULE}").loadNative(${JSON.stringify(name)})`
}

const REWRITES: readonly (readonly [path: RegExp, rewrite: Rewrite])[] = [
  [/@lancedb\/lancedb\/dist\/native\.js$/, lanceBinding],
  [/@lancedb\/lancedb\/dist\/(?:connection|index|job|merge|query|table)\.js$/, requireWhenUsed],
  [/onnxruntime-node\/dist\/binding\.js$/, onnxruntimeBinding],
  [/@anush008\/tokenizers\/index\.js$/, () => `module.exports = ${load("tokenizers")}`],
  [/@duckdb\/node-bindings\/duckdb\.js$/, () => `module.exports = ${load("duckdb")}`],
]

const ASSET_TABLE = /src\/platform\/native\/native-assets\.ts$/
const PAGE_ASSETS = /src\/http\/page-assets\.ts$/
const HOMEPAGE = /src\/platform\/host\/homepage\.ts$/

/**
 * A path that moved matches no rewrite, and the bundler takes the file as it is: an executable without libraries. So each
 * rewrite must have met its file. The addon of ONNX Runtime is not in the bundle where WebAssembly stands in for it.
 */
export function assertRewritten(inputs: readonly string[], isWebAssembly: boolean): void {
  const wanted = [ASSET_TABLE, PAGE_ASSETS, HOMEPAGE, ...REWRITES.map(([path]) => path)]
  const absent = wanted.filter((path) => !inputs.some((input) => path.test(input)))
  const missing = absent.filter(({ source }) => !(isWebAssembly && source.includes("onnxruntime")))
  if (missing.length > 0) throw new BuildFailure(`No file of the bundle matches ${missing.map(String).join(" or ")}.`)
}

/** Optional parts of packages that pond does not use. Left alone they would be looked for on the user's disk. */
const LEFT_OUT = /^(?:openai|@huggingface\/transformers|apache-arrow\/.*)$/

/** fastembed downloads its sparse models with it: 5 MB that pond has no use for, required when fastembed is loaded. */
const HUB = /^@huggingface\/hub$/

export interface Facts {
  readonly page: PageAssets
  readonly homepage: string | undefined
}

export type Natives = ReadonlyMap<NativeName, EmbeddedNative>

/** `webRuntime` is the JavaScript of ONNX Runtime as WebAssembly, for a target that has no addon of it. */
export function embedding(natives: Natives, facts: Facts, webRuntime: string | undefined): BunPlugin {
  return {
    name: "pond-natives",
    setup(build) {
      const files = new Map<string, string>()
      const named = (path: string) => {
        const word = `pond:file/${files.size}-${basename(path)}`
        files.set(word, path)
        return word
      }
      build.onResolve({ filter: /^pond:native$/ }, () => ({ path: join(ROOT, "src/platform/native/native.ts") }))
      build.onResolve({ filter: FILE }, ({ path }) => ({ path: files.get(path) ?? path }))
      for (const [filter, rewrite] of [assetTable(natives, named), ...factModules(facts), ...REWRITES]) {
        build.onLoad({ filter }, ({ path }) => ({ loader: "js", contents: rewrite(readFileSync(path, "utf8")) }))
      }
      if (webRuntime !== undefined) {
        build.onLoad({ filter: /onnxruntime-web\/dist\/ort\.wasm\.min\.mjs$/ }, ({ path }) => ({
          loader: "js",
          contents: webAssemblyLoading(readFileSync(path, "utf8")),
        }))
        build.onResolve({ filter: /^onnxruntime-node$/ }, ({ path }) => ({ path, namespace: "web-assembly" }))
        build.onLoad({ filter: /.*/, namespace: "web-assembly" }, () => ({
          loader: "js",
          contents: webAssemblyRuntime(named(webRuntime)),
        }))
      }
      build.onResolve({ filter: /^apache-arrow$/ }, () => ({
        path: join(ROOT, "node_modules/apache-arrow/Arrow.node.js"),
      }))
      build.onResolve({ filter: HUB }, ({ path }) => ({ path, namespace: "hub" }))
      build.onLoad({ filter: /.*/, namespace: "hub" }, ({ path }) => ({
        loader: "js",
        contents: `module.exports = { downloadFileToCacheDir() { throw new Error(${JSON.stringify(`pond does not carry ${path}`)}) } }`,
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
  const contentHash = hash.digest("hex").slice(0, 32)
  return { origin: files.origin, contentHash, addon, beside, isWebAssembly: files.webRuntime !== undefined }
}

function assetTable(natives: Natives, named: (path: string) => string): readonly [path: RegExp, rewrite: Rewrite] {
  return [ASSET_TABLE, () => assetModule(natives, named)]
}

/** The modules that stand for `page-assets.ts`, with the files ready made, and for `homepage.ts`, which the source does not know. */
function factModules({ page, homepage }: Facts): readonly (readonly [path: RegExp, rewrite: Rewrite])[] {
  return [
    [PAGE_ASSETS, () => `export async function pageAssets() { return ${JSON.stringify(page)} }\n`],
    [HOMEPAGE, () => `export const HOMEPAGE = ${JSON.stringify(homepage) ?? "undefined"}\n`],
  ]
}

/** The module that stands for `native-assets.ts`: the same table, whose assets are imports of files. */
function assetModule(natives: Natives, named: (path: string) => string): string {
  const imports: string[] = []
  const embed = (file: EmbeddedFile): string => {
    const name = `asset${imports.length}`
    imports.push(`import ${name} from ${JSON.stringify(named(file.asset))} with { type: "file" }`)
    return `{ ...${JSON.stringify({ ...file, asset: undefined })}, asset: ${name} }`
  }
  const rows = [...natives].map(([name, { addon, beside, ...rest }]) => {
    const files = `addon: ${embed(addon)}, beside: [${beside.map(embed).join(", ")}]`
    return `${JSON.stringify(name)}: { ...${JSON.stringify(rest)}, ${files} }`
  })
  return `${imports.join("\n")}\nexport const EMBEDDED_NATIVES = { ${rows.join(", ")} }\n`
}

// --- Stand-ins -------------------------------------------------------------------------------------------------------

/**
 * ONNX Runtime as WebAssembly, with the face of `onnxruntime-node`: it is given the bytes instead of looking for its file,
 * and a model that is named by its path is read here, because this runtime would take the path for a URL.
 */
function webAssemblyRuntime(runtime: string): string {
  return `
    const web = require(${JSON.stringify(runtime)})
    web.env.wasm.numThreads = 1
    web.env.wasm.wasmBinary = require("${NATIVE_MODULE}").readWebAssembly("onnxruntime").buffer
    const create = (model, options) => web.InferenceSession.create(model, options)
    module.exports = {
      ...web,
      InferenceSession: {
        create: async (model, options) =>
          create(typeof model === "string" ? new Uint8Array(await Bun.file(model).arrayBuffer()) : model, options),
      },
    }`
}

// --- Rewrites of the packages ----------------------------------------------------------------------------------------

/** It would import the code around its WebAssembly from the disk or the network, by a name that it makes up when it runs. */
function webAssemblyLoading(source: string): string {
  const rewritten = source.replace(/import\(\/\*webpackIgnore:true\*\/\w+\)/, `import("./ort-wasm-simd-threaded.mjs")`)
  if (rewritten === source)
    throw new BuildFailure("onnxruntime-web loads its code in another way than the build knows.")
  return rewritten
}

/** Its exports are named one by one, as the original does it: that is where an import by name finds them. */
function lanceBinding(source: string): string {
  const names = [...source.matchAll(/^module\.exports\.(\w+) = nativeBinding\.\w+;/gm)].map((match) => match[1])
  if (names.length < 10) throw new BuildFailure("@lancedb/lancedb loads its addon in another way than the build knows.")
  const exported = names.map((name) => `module.exports.${name} = binding.${name};`)
  return `const binding = ${load("lance")};\nmodule.exports = binding;\n${exported.join("\n")}\n`
}

/**
 * What reads a table needs the addon and a few classes around it. The package loads Arrow's library, its own converter and
 * its embedding functions with them: 8 ms of processor time and 2 MB of each command that opens a store. So a module is
 * required where its name is first used.
 */
function requireWhenUsed(source: string): string {
  const declaration = /^(?:const|var) (\w+) = require\(("[^"]+")\);$/gm
  const found = [...source.matchAll(declaration)]
  if (found.length === 0)
    throw new BuildFailure("@lancedb/lancedb requires its modules in another way than the build knows.")
  const getters = found.map(([, name, path]) => `get ${name}() { return require(${path}) }`)
  const used = new RegExp(`\\b(?:${found.map(([, name]) => name).join("|")})(?=\\.)`, "g")
  const exported = 'Object.defineProperty(exports, "$1", { enumerable: true, get: () => require($2) });'
  const rest = source.replace(declaration, "").replace(/^exports\.(\w+) = require\(("[^"]+")\);$/gm, exported)
  return `const required = { ${getters.join(", ")} };\n${rest.replace(used, "required.$&")}`
}

function onnxruntimeBinding(source: string): string {
  const rewritten = source.replace(/require\(`\.\.\/bin\/napi-v3\/[^)]*\)/, load("onnxruntime"))
  if (rewritten === source)
    throw new BuildFailure("onnxruntime-node loads its addon in another way than the build knows.")
  return rewritten
}
