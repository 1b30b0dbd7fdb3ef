import { afterAll, beforeEach, expect, test } from "bun:test"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { downloadModel, isDownloaded } from "../../src/embeddings/download-model.ts"
import { openEmbedder } from "../../src/embeddings/embedder.ts"
import type { KnownModel } from "../../src/embeddings/known-models.ts"

const place = mkdtempSync(join(tmpdir(), "pond-download-"))
const origin = join(place, "origin")
writeTinyModel(origin)
let directory: string

beforeEach(() => {
  directory = join(mkdtempSync(join(place, "cache-")), "tiny")
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
  const context = { signal: new AbortController().signal, endpoint: server.url.href.replace(/\/$/, "") }
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
