import { expect, test } from "bun:test"
import { openRemoteEmbedder, type RemoteSettings, remoteModelId } from "../../src/embeddings/remote-embedder.ts"

interface Asked {
  readonly model: string
  readonly input: readonly string[]
}

/** Answers with the length of each text; `change` may answer in its place. */
function served(change: (asked: Asked, count: number, request: Request) => Response | undefined = () => undefined) {
  const bodies: Asked[] = []
  const keys: (string | null)[] = []
  const server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const asked = (await request.json()) as Asked
      bodies.push(asked)
      keys.push(request.headers.get("authorization"))
      const data = asked.input.map((text, index) => ({ index, embedding: [text.length, 1, 0, 0] }))
      // The order is not the asked one: `index` says which is which.
      return change(asked, bodies.length, request) ?? Response.json({ data: data.toReversed() })
    },
  })
  const settings: RemoteSettings = {
    endpoint: `http://localhost:${server.port}/v1`,
    model: "lengths",
    queryPrefix: "q: ",
    passagePrefix: "p: ",
    tokensMax: 100,
  }
  const context = { signal: new AbortController().signal, nowMs: () => performance.now() }
  return { bodies, keys, settings, context, [Symbol.asyncDispose]: () => server.stop(true) }
}

test("texts go out with their prefixes and in batches, and come back in their order", async () => {
  await using server = served()
  const embedder = await openRemoteEmbedder({ ...server.settings, apiKey: "secret", dimension: 4 }, server.context)
  expect(server.bodies).toEqual([])
  const texts = Array.from({ length: 100 }, (_, at) => "x".repeat(at + 1))
  const vectors = await embedder.passages(texts)
  expect(server.bodies.map(({ input }) => input.length)).toEqual([64, 36])
  expect(server.bodies[0]?.input[1]).toBe("p: xx")
  expect(server.keys).toEqual(["Bearer secret", "Bearer secret"])
  const ratio = vectors.map(([vector]) => Math.round((vector?.[0] ?? 0) / (vector?.[1] ?? 1)))
  expect(ratio).toEqual(texts.map((text) => text.length + 3))
  expect(Math.hypot(...(vectors[0]?.[0] ?? []))).toBeCloseTo(1, 5)
  await embedder.query("why")
  expect(server.bodies.at(-1)?.input).toEqual(["q: why"])
})

test("a long text is sent in windows, and one of megabytes no further than they reach", async () => {
  await using server = served()
  const embedder = await openRemoteEmbedder(server.settings, server.context)
  const [short, long] = await embedder.passages(["a", "b".repeat(1_000_000)])
  expect([short?.length, long?.length]).toEqual([1, 8])
  expect(embedder).toMatchObject({ dimension: 4, reranks: false, model: remoteModelId(server.settings) })
})

test("a server that is busy is asked again, when it says", async () => {
  await using server = served((_, count) =>
    count === 1 ? new Response("", { status: 429, headers: { "retry-after": "0.01" } }) : undefined,
  )
  const embedder = await openRemoteEmbedder({ ...server.settings, dimension: 4 }, server.context)
  expect(await embedder.query("x")).toHaveLength(4)
  expect(server.bodies).toHaveLength(2)
})

test("a server is asked no more often than the settings allow", async () => {
  const moments: number[] = []
  await using server = served(() => {
    moments.push(performance.now())
    return undefined
  })
  const settings = { ...server.settings, dimension: 4, requestsPerMinute: 600 }
  const embedder = await openRemoteEmbedder(settings, server.context)
  await embedder.passages(Array.from({ length: 130 }, (_, at) => `text ${at}`))
  expect(moments).toHaveLength(3)
  // A tenth of a second each, but for the precision of a timer.
  expect((moments[2] ?? 0) - (moments[0] ?? 0)).toBeGreaterThan(190)
})

test("vectors are cut to the dimension that was asked for", async () => {
  await using server = served()
  const embedder = await openRemoteEmbedder({ ...server.settings, dimension: 2 }, server.context)
  const vector = await embedder.query("x")
  expect(vector).toHaveLength(2)
  expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
})

test.each<[string, () => Response, string]>([
  ["refuses", () => new Response("no such model", { status: 404 }), "it answered 404: no such model"],
  ["is another kind of server", () => new Response("<html>"), "not one of the embeddings API"],
  ["sends too few", () => Response.json({ data: [] }), "not one of the embeddings API"],
  ["sends no numbers", () => Response.json({ data: [{ embedding: ["a", 1, 0, 0] }] }), "not one of the embeddings API"],
  ["sends another dimension", () => Response.json({ data: [{ embedding: [1] }] }), "not one of the embeddings API"],
])("a server that %s is said", async (_, answer, why) => {
  await using server = served(answer)
  const embedder = await openRemoteEmbedder({ ...server.settings, dimension: 4 }, server.context)
  expect(embedder.query("x")).rejects.toMatchObject({
    code: "storage_unavailable",
    message: expect.stringContaining(why),
  })
  await embedder.query("x").catch(() => undefined)
})

test("neither key nor text follows a redirect, or goes over the network in the clear", async () => {
  await using server = served((_, count) =>
    count === 1 ? Response.redirect("http://localhost:1/elsewhere", 307) : undefined,
  )
  const clear = { ...server.settings, endpoint: "http://example.org/v1" }
  expect(openRemoteEmbedder(clear, server.context)).rejects.toMatchObject({ message: expect.stringContaining("https") })
  const stopping = new AbortController()
  const embedder = await openRemoteEmbedder(
    { ...server.settings, dimension: 4 },
    { ...server.context, signal: stopping.signal },
  )
  const asked = embedder.query("x")
  setTimeout(() => stopping.abort(), 50)
  await asked.catch(() => undefined)
  expect(server.bodies).toHaveLength(1)
})
