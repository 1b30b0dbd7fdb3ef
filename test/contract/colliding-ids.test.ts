/**
 * Ids that collide, at random: tools that remove secrets write one word over whatever looks like one, in any field. Every
 * message and part is stored all the same, and every record comes back. A failure prints the seed that repeats it.
 */
import { expect, test } from "bun:test"
import type { Adapter, RawRecord } from "../../src/adapters/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { fromSource } from "../../src/adapters/source-value.ts"
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../../src/model/json.ts"
import { type Random, seededRandom } from "../../src/platform/host/random.ts"
import { differences } from "../../src/restore/compare.ts"
import { nativeFiles } from "../../src/restore/output-files.ts"
import { memorySessions } from "../sessions/support.ts"
import { SEED } from "../support/seed.ts"
import { fixturesOf, fresh, parseUnit, unitsOf } from "./fixtures.ts"

/** A round costs a store: there are fewer of them than of those that only parse. */
const ROUNDS = Math.ceil(Number(process.env["POND_FUZZ_ROUNDS"] ?? 750) / 50)
const ID_KEY = /id$/i
const WORDS = ["REDACTED", "x", ""]

/** The values under keys that end in `id`. */
function collectIds(value: JsonValue, ids: Set<string>): void {
  if (Array.isArray(value)) for (const inner of value) collectIds(inner, ids)
  if (!isJsonObject(value)) return
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === "string" && ID_KEY.test(key)) ids.add(inner)
    else collectIds(inner, ids)
  }
}

function jsonOf(raw: RawRecord): JsonValue | undefined {
  if (raw.form === "row") return raw.row
  if (!("text" in raw) || (raw.form !== "log" && raw.form !== "document")) return undefined
  const parsed = parseJson(raw.text)
  return parsed.ok ? parsed.value : undefined
}

/** Some of the ids become one word, each wherever it stands. */
function collide(records: readonly RawRecord[], random: Random): RawRecord[] {
  const ids = new Set<string>()
  for (const raw of records) collectIds(jsonOf(raw) ?? null, ids)
  const share = random.next()
  const chosen = [...ids].filter(() => random.next() < share)
  const word = JSON.stringify(WORDS[Math.floor(random.next() * WORDS.length)])
  const overwrite = (text: string) => chosen.reduce((now, id) => now.replaceAll(JSON.stringify(id), word), text)
  return records.map((raw): RawRecord => {
    const value = jsonOf(raw)
    if (value === undefined) return fresh(raw)
    if (raw.form !== "row") return { ...raw, text: overwrite((raw as { text: string }).text) } as RawRecord
    const parsed = parseJson(overwrite(stringifyJson(value)))
    return parsed.ok ? { ...raw, row: fromSource(parsed.value) } : fresh(raw)
  })
}

async function checkRound(adapter: Adapter, seed: number, units: Awaited<ReturnType<typeof unitsOf>>): Promise<void> {
  const { unit, records } = units[seed % units.length] as (typeof units)[number]
  const collided = collide(records, seededRandom(seed))
  const { session, entries } = parseUnit(adapter, unit, collided.map(fresh), { isSettled: true })
  if (session === undefined) return
  using place = memorySessions()
  const [result] = await place.sessions.write([{ session, entries }])
  const parts = entries.reduce((sum, entry) => sum + entry.parts.length, 0)
  const repeat = `POND_SEED=${seed} POND_FUZZ_ROUNDS=1, unit ${unit.key}`
  expect(result?.inserted, repeat).toEqual({ messages: entries.length, parts })
  const back = await place.sessions.log(session.id)
  expect(differences(session.id, collided, nativeFiles(adapter, back)), repeat).toEqual([])
}

for (const adapter of ADAPTERS.filter((each) => fixturesOf(each).length > 0)) {
  test(`${adapter.id}: every row is stored where ids collide, and every record comes back`, async () => {
    const units: Awaited<ReturnType<typeof unitsOf>> = []
    for (const { root } of fixturesOf(adapter)) units.push(...(await unitsOf(adapter, root)))
    for (let round = 0; round < ROUNDS; round++) await checkRound(adapter, (SEED + round) >>> 0, units)
  })
}
