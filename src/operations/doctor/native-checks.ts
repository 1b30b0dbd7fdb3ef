/**
 * The checks of `doctor` that the native libraries work: each is used for what pond uses it for. In the executable the
 * files that it unpacked are read whole and compared, too.
 */
import { proveEmbedding } from "../../embeddings/self-test.ts"
import { PondError } from "../../model/errors.ts"
import { ensureWritable } from "../../platform/host/paths.ts"
import { ensureNative, inspectNatives } from "../../platform/native/native.ts"
import { proveStoreEngine } from "../../substrate/self-test.ts"
import type { Pond } from "../pond.ts"

export async function storeEngine({ host }: Pond): Promise<string> {
  return await proveStoreEngine(ensureWritable(host.path("cache")), host)
}

export async function embeddingEngine(): Promise<string> {
  return await proveEmbedding()
}

export async function sqlEngine(): Promise<string> {
  ensureNative("duckdb")
  const { DuckDBInstance, version } = await import("@duckdb/node-api")
  const instance = await DuckDBInstance.create(":memory:")
  const connection = await instance.connect()
  try {
    const answer = await connection.runAndReadAll(`select json_extract_string('{"lily": "white"}', 'lily') as colour`)
    const found = JSON.stringify(answer.getRows())
    if (found !== '[["white"]]') throw new PondError("internal", `DuckDB returned ${found} to a test query.`)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
  return `DuckDB ${version()} answers`
}

/** Comes last: the checks before it have unpacked what was not there yet. */
export function unpackedLibraries(): string {
  const natives = inspectNatives()
  if (natives.length === 0) return "in the installed packages"
  const wrong = natives.filter(({ state }) => state !== "ready")
  if (wrong.length > 0) {
    const named = wrong.map(({ name, directory, state }) => `${name} in ${directory} is ${state}`).join(", ")
    throw new PondError("storage_unavailable", `${named}. It is unpacked again when needed.`)
  }
  return natives.map(({ origin }) => origin).join(", ")
}
