/** With a model that people use, where `POND_TEST_MODEL` names its directory (and `POND_TEST_MODEL_NAME` what it is). */
import { expect, test } from "bun:test"
import { openEmbedder } from "../../src/embeddings/embedder.ts"

const directory = process.env["POND_TEST_MODEL"]

test.skipIf(directory === undefined)(
  "a real model puts what means the same near each other, however it is said",
  async () => {
    const embedder = await openEmbedder(process.env["POND_TEST_MODEL_NAME"] ?? "all-MiniLM-L6-v2", directory ?? "")
    const passages = [
      "We moved the data to the new database over the weekend.",
      "The kitten sleeps on the rug.",
      "Shares of banks fell after the rate decision.",
      `${"The meeting went on about holidays and coffee. ".repeat(60)}Then the login page crashed for every user.`,
    ]
    const vectors = await embedder.passages(passages)
    const nearest = async (query: string) => {
      const asked = await embedder.query(query)
      const scores = vectors.map((windows) =>
        Math.max(...windows.map((vector) => vector.reduce((sum, value, at) => sum + value * (asked[at] ?? 0), 0))),
      )
      return scores.indexOf(Math.max(...scores))
    }
    expect(await nearest("migration of our storage backend")).toBe(0)
    expect(await nearest("a small cat takes a nap")).toBe(1)
    expect(await nearest("stock market reaction of financial companies")).toBe(2)
    expect(await nearest("authentication screen is broken")).toBe(3)
    expect(await embedder.isForeign("why did the login page crash for every user")).toBe(false)
    expect(await embedder.isForeign("warum ist die Anmeldeseite für alle Benutzer abgestürzt")).toBe(true)
    await embedder.close()
  },
)
