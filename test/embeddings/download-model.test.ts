import { afterAll, beforeEach, expect, test } from "bun:test"
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { downloadModel, isDownloaded } from "../../src/embeddings/download-model.ts"
import { openEmbedder } from "../../src/embeddings/embedder.ts"
import type { KnownModel } from "../../src/embeddings/known-models.ts"
import { proveModel, requireUnchanged } from "../../src/embeddings/model-checksums.ts"

const place = mkdtempSync(join(tmpdir(), "pond-download-"))
const origin = join(place, "origin")
writeTinyModel(origin)
let directory: string
let stateDirectory: string

beforeEach(() => {
  directory = join(mkdtempSync(join(place, "cache-")), "tiny")
  stateDirectory = mkdtempSync(join(place, "state-"))
})

afterAll(() => rmSync(place, { recursive: true, force: true }))

const sha256Of = (name: string) => new Bun.CryptoHasher("sha256").update(readFileSync(join(origin, name))).digest("hex")

const model: KnownModel = {
  name: "tiny",
  aliases: [],
  pooling: "mean",
  queryPrefix: "",
  passagePrefix: "",
  tokensMax: 512,
  dimension: 16,
  cuts: [],
  languages: "none",
  license: "none",
  megabytes: 1,
  source: {
    kind: "files",
    repository: "someone/tiny",
    revision: "abc",
    files: ["model.onnx", "tokenizer.json"].map((name) => ({ from: `onnx/${name}`, to: name, sha256: sha256Of(name) })),
  },
}

/** Serves the repository; `change` may answer in its place. */
function served(change: (path: string, request: Request) => Response | undefined = () => undefined) {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      asked.push(`${pathname}${request.headers.get("range") ?? ""}`)
      const bytes = new Uint8Array(readFileSync(join(origin, pathname.split("/").at(-1) ?? "")))
      const from = Number(/bytes=(\d+)-/.exec(request.headers.get("range") ?? "")?.[1] ?? 0)
      if (from >= bytes.length) return new Response("", { status: 416 })
      return change(pathname, request) ?? new Response(bytes.subarray(from), { status: from > 0 ? 206 : 200 })
    },
  })
  const { signal } = new AbortController()
  const context = { signal, stateDirectory, endpoint: server.url.href.replace(/\/$/, "") }
  return { asked, context, [Symbol.asyncDispose]: () => server.stop(true) }
}

test("a known model is downloaded once, and works", async () => {
  await using server = served()
  const seen: number[] = []
  await downloadModel(model, directory, { ...server.context, onBytes: (received) => seen.push(received) })
  expect(server.asked).toEqual([
    "/someone/tiny/resolve/abc/onnx/model.onnx",
    "/someone/tiny/resolve/abc/onnx/tokenizer.json",
  ])
  expect(isDownloaded(directory)).toBe(true)
  await downloadModel(model, directory, server.context)
  expect(server.asked).toHaveLength(2)
  expect(seen.at(-1)).toBeGreaterThan(9_000)
  const embedder = await openEmbedder("tiny", directory, { pooling: "mean" })
  expect(await embedder.query("hello")).toHaveLength(16)
  await embedder.close()
})

test("a download that was interrupted goes on where it ended, also where it ended with the last byte", async () => {
  await using server = served()
  const cut = (name: string, bytes: number) => {
    writeFileSync(join(directory, `${name}.part`), readFileSync(join(origin, name)).subarray(0, bytes))
  }
  writeTinyModel(directory)
  rmSync(join(directory, "model.onnx"))
  rmSync(join(directory, "tokenizer.json"))
  cut("model.onnx", 100)
  cut("tokenizer.json", readFileSync(join(origin, "tokenizer.json")).length)
  await downloadModel(model, directory, server.context)
  expect(server.asked[0]).toEndWith("model.onnxbytes=100-")
  expect(readFileSync(join(directory, "model.onnx"))).toEqual(readFileSync(join(origin, "model.onnx")))
  expect(readdirSync(directory).filter((name) => name.endsWith(".part"))).toEqual([])
})

test("what does not have its checksum is deleted, and the model does not count as downloaded", async () => {
  await using server = served((path) => (path.endsWith("tokenizer.json") ? new Response("{}") : undefined))
  const done = downloadModel(model, directory, server.context)
  expect(done).rejects.toMatchObject({ code: "validation_failed", message: expect.stringContaining("does not match") })
  await done.catch(() => undefined)
  expect(isDownloaded(directory)).toBe(false)
  expect(existsSync(join(directory, "tokenizer.json"))).toBe(false)
  expect(existsSync(join(directory, "tokenizer.json.part"))).toBe(false)
})

test("a server that does not have it is said, with what to do", async () => {
  await using server = served(() => new Response("", { status: 404 }))
  expect(downloadModel(model, directory, server.context)).rejects.toMatchObject({
    code: "storage_unavailable",
    message: expect.stringMatching(/answered 404.*Run the command again/s),
  })
})

// --- What arrived first ----------------------------------------------------------------------------------------------

/** fastembed takes what lies in the cache under its own name for the model, so nothing is asked of its host. */
function byFastembed(tokenizer: (text: string) => string = (text) => text) {
  const draft = join(`${directory}.${process.pid}.draft`, "fast-bge-small-en")
  writeTinyModel(draft)
  renameSync(join(draft, "model.onnx"), join(draft, "model_optimized.onnx"))
  const path = join(draft, "tokenizer.json")
  writeFileSync(path, tokenizer(readFileSync(path, "utf8")))
  const source = { kind: "fastembed", model: "fast-bge-small-en" } as const
  return downloadModel({ ...model, source }, directory, { signal: new AbortController().signal, stateDirectory })
}

const proof = (isThorough = false) => proveModel({ name: "tiny", directory, stateDirectory }, isThorough)

test("a model without published checksums is trusted as it arrives first, and another one later is refused", async () => {
  await byFastembed()
  expect(await proof(true)).toEqual({ state: "unchanged" })
  rmSync(directory, { recursive: true })
  await byFastembed()
  rmSync(directory, { recursive: true })
  const other = byFastembed((text) => `${text} `)
  expect(other).rejects.toMatchObject({
    code: "validation_failed",
    message: expect.stringMatching(/tokenizer\.json had the SHA-256 .* remove "tiny" from .*model-checksums\.json/),
  })
  await other.catch(() => undefined)
  expect(isDownloaded(directory)).toBe(false)
  expect(readdirSync(dirname(directory))).toEqual([])
})

test("a file of a downloaded model that changes is noticed when it is loaded, whatever its size and time say", async () => {
  await using server = served()
  await downloadModel(model, directory, server.context)
  await requireUnchanged({ name: "tiny", directory, stateDirectory })
  const path = join(directory, "model.onnx")
  const { atime, mtime } = statSync(path)
  const bytes = readFileSync(path)
  writeFileSync(
    path,
    bytes.map((byte, at) => (at === 100 ? byte ^ 1 : byte)),
  )
  utimesSync(path, atime, mtime)
  expect(await proof()).toMatchObject({ state: "changed", file: "model.onnx", expected: sha256Of("model.onnx") })
  expect(requireUnchanged({ name: "tiny", directory, stateDirectory })).rejects.toMatchObject({
    code: "validation_failed",
    message: expect.stringMatching(/model\.onnx is not the file that was downloaded.*`pond embeddings use tiny`/),
  })
  writeFileSync(path, bytes)
  expect(await proof()).toEqual({ state: "unchanged" })
  rmSync(path)
  expect(await proof()).toMatchObject({ state: "changed", found: "missing" })
})

test("a file is hashed again only once something about it changed, or where somebody asks", async () => {
  await using server = served()
  await downloadModel(model, directory, server.context)
  await proof()
  const checksums = join(stateDirectory, "model-checksums.json")
  const claimed = readFileSync(checksums, "utf8").replaceAll(sha256Of("model.onnx"), "0".repeat(64))
  writeFileSync(checksums, claimed)
  expect(await proof()).toEqual({ state: "unchanged" })
  expect(await proof(true)).toMatchObject({ state: "changed", expected: "0".repeat(64) })
})

test("a model from before checksums were kept apart is held to the record that lies in its directory", async () => {
  await using server = served()
  await downloadModel(model, directory, server.context)
  rmSync(join(stateDirectory, "model-checksums.json"))
  expect(await proof()).toEqual({ state: "unchanged" })
  writeFileSync(join(directory, "tokenizer.json"), "{}")
  expect(await proof()).toMatchObject({ state: "changed", file: "tokenizer.json" })
  rmSync(join(directory, "pond-model.json"))
  rmSync(join(stateDirectory, "model-checksums.json"))
  expect(await proof()).toEqual({ state: "unknown" })
})
