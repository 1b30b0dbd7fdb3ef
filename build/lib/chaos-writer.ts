/**
 * One writer of a storm, a separate process: writes sessions by number, which others write too, each time some of them and
 * some of their messages. Says on stdout what the store has acknowledged, and each failure by its code.
 */
import { toPondError } from "../../src/model/errors.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { lengthOf, openChaosStore, sessionBatch } from "../corpus/chaos-sessions.ts"

const [url = "", seed = "1", sessions = "100", seconds = "60", role = "write"] = Bun.argv.slice(2)
const random = seededRandom(Number(seed))
const until = performance.now() + Number(seconds) * 1000
const BATCH_MAX = 12
const store = openChaosStore(url)
console.log(JSON.stringify({ begun: process.pid }))

while (performance.now() < until) {
  try {
    if (role === "maintain") console.log(JSON.stringify({ maintained: await store.maintain("all") }))
    else await write()
  } catch (error) {
    const { code, message, details } = toPondError(error)
    console.log(JSON.stringify({ failed: code, message, details }))
    if (role === "until failed") break
  }
}
store.close()

async function write(): Promise<void> {
  const numbers = new Set(Array.from({ length: 1 + below(BATCH_MAX) }, () => below(Number(sessions))))
  const batches = [...numbers].map((number) => ({ number, messages: 1 + below(lengthOf(number)) }))
  const results = await store.write(batches.map(({ number, messages }) => sessionBatch(number, messages)))
  const rejected = results.flatMap(({ error }) => error ?? [])
  if (rejected.length > 0) throw rejected[0]
  console.log(JSON.stringify({ stored: batches.map(({ number, messages }) => [number, messages]) }))
}

function below(bound: number): number {
  return Math.floor(random.next() * bound)
}
