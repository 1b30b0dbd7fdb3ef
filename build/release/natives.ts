/** Which files make each native library of a target, and in which package they lie. */
import { existsSync } from "node:fs"
import { basename, join } from "node:path"
import type { NativeName } from "../../src/platform/native/native-assets.ts"
import { installedPackage, type Package, packageAt, packageFor } from "./packages.ts"
import { BuildFailure, type Target } from "./targets.ts"

export interface NativeFiles {
  readonly native: NativeName
  /** `name@version` of the package. */
  readonly origin: string
  readonly addon: string
  readonly beside: readonly string[]
  /** The JavaScript that runs the addon, where that is WebAssembly. */
  readonly webRuntime?: string
}

/** All of them, or a failure that names each that is missing. */
export async function nativesOf(target: Target): Promise<readonly NativeFiles[]> {
  const wanted = [lance(target), onnxruntime(target), tokenizers(target), duckdb(target)]
  const found: NativeFiles[] = []
  const missing: string[] = []
  for (const outcome of await Promise.allSettled(wanted)) {
    if (outcome.status === "fulfilled") found.push(outcome.value)
    else if (outcome.reason instanceof BuildFailure) missing.push(outcome.reason.message)
    else throw outcome.reason
  }
  for (const { origin, addon, beside } of found) {
    const absent = [addon, ...beside].filter((path) => !existsSync(path))
    missing.push(...absent.map((path) => `${target.name} needs ${basename(path)}, which ${origin} lacks.`))
  }
  if (missing.length > 0) throw new BuildFailure(missing.join("\n"))
  return found
}

/** The name that napi-rs gives a machine. */
function triple({ os, cpu, libc }: Target): string {
  if (os === "darwin") return `darwin-${cpu}`
  return `linux-${cpu}-${libc === "musl" ? "musl" : "gnu"}`
}

async function lance(target: Target): Promise<NativeFiles> {
  const name = `@lancedb/lancedb-${triple(target)}`
  const from = await packageFor(target, "@lancedb/lancedb", name)
  return files("lance", from, `lancedb.${triple(target)}.node`)
}

/**
 * Upstream ships no addon for musl. There the same version of the same runtime comes as WebAssembly: one thread, about a
 * third of the speed, the same numbers.
 */
async function onnxruntime(target: Target): Promise<NativeFiles> {
  const from = installedPackage("onnxruntime-node")
  if (target.libc === "musl") {
    const web = await packageAt(target, "onnxruntime-web", from.version)
    const webRuntime = join(web.directory, "dist/ort.wasm.min.mjs")
    return { ...files("onnxruntime", web, "dist/ort-wasm-simd-threaded.wasm"), webRuntime }
  }
  const library = target.os === "darwin" ? `libonnxruntime.${from.version}.dylib` : "libonnxruntime.so.1"
  const folder = `bin/napi-v3/${target.os}/${target.cpu}`
  return files("onnxruntime", from, `${folder}/onnxruntime_binding.node`, `${folder}/${library}`)
}

async function tokenizers(target: Target): Promise<NativeFiles> {
  const machine = target.os === "darwin" ? "darwin-universal" : triple(target)
  const from = await packageFor(target, "@anush008/tokenizers", `@anush008/tokenizers-${machine}`)
  return files("tokenizers", from, `tokenizers.${machine}.node`)
}

async function duckdb(target: Target): Promise<NativeFiles> {
  const machine = `${target.os}-${target.cpu}${target.libc === "musl" ? "-musl" : ""}`
  const from = await packageFor(target, "@duckdb/node-bindings", `@duckdb/node-bindings-${machine}`)
  return files("duckdb", from, "duckdb.node", target.os === "darwin" ? "libduckdb.dylib" : "libduckdb.so")
}

function files(native: NativeName, from: Package, addon: string, ...beside: readonly string[]): NativeFiles {
  return {
    native,
    origin: `${from.name}@${from.version}`,
    addon: join(from.directory, addon),
    beside: beside.map((file) => join(from.directory, file)),
  }
}
