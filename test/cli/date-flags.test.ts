/** Days as people type them, in their own time; the tests' own time is UTC. */
import { expect, test } from "bun:test"
import { writeDemo } from "../../build/corpus/demo.ts"
import { parseMoment } from "../../src/operations/wire/date-words.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const NOW = Date.UTC(2026, 0, 31, 12)
const typed = (text: string, nowMs = NOW) => [
  parseMoment({ flag: "--from", text, edge: "start" }, nowMs),
  parseMoment({ flag: "--to", text, edge: "end" }, nowMs),
]
const days = (first: string, last = first) => [`${first}T00:00:00.000Z`, `${last}T23:59:59.999999Z`]

test.each([
  ["2026-01-20", days("2026-01-20")],
  ["2026-1-5", days("2026-01-05")],
  ["2026-02", days("2026-02-01", "2026-02-28")],
  ["2025", days("2025-01-01", "2025-12-31")],
  ["today", days("2026-01-31")],
  ["Yesterday", days("2026-01-30")],
  ["7d", days("2026-01-24")],
  ["2w", days("2026-01-17")],
  ["3 days ago", days("2026-01-28")],
  ["1 week ago", days("2026-01-24")],
  ["20 Jan", days("2026-01-20")],
  ["22 Dec", days("2025-12-22")],
  ["22 December 2024", days("2024-12-22")],
  ["0050-03-01", days("0050-03-01")],
  ["last week", days("2026-01-19", "2026-01-25")],
  ["last month", days("2025-12-01", "2025-12-31")],
  ["June", days("2025-06-01", "2025-06-30")],
  ["2026-01-20T10:00", ["2026-01-20T10:00:00.000Z", "2026-01-20T10:00:59.999999Z"]],
  ["24h", ["2026-01-30T12:00:00.000Z", "2026-01-31T12:00:00.000999Z"]],
])("%s is a range of time", (text, wanted) => expect(typed(text)).toEqual(wanted))

test.each(["2026-01-20T12:00:00Z", "2026-01-20T12:00:00.123456+02:00"])("%s stays the moment that it is", (text) =>
  expect(typed(text)).toEqual([text, text]),
)

test.each(["soon", "2026-02-30", "2026-13", "30 Feb", "20 Foo", "9999", "99999999d", "-3d", ""])(
  "%j is refused with what can be typed",
  (text) => {
    expect(() => typed(text)).toThrow(
      `"${text}" is not a date. Use 2026-01-31, 2026-01, "20 Jan", "last week", yesterday, 7d or 2026-01-31T12:00.`,
    )
  },
)

test("a day is the reader's own, as pond shows it: in search, in what is counted, in what is exported", async () => {
  using home = temporaryHome()
  writeDemo(home.path)
  // The demo speaks at ten in the morning in UTC, which is the evening before at the Pacific.
  const env = { ...home.env, TZ: "Pacific/Pago_Pago" }
  expect(await runPond(["sync", "-q"], { env })).toMatchObject({ exitCode: 0 })
  const asked = async (...args: string[]) => JSON.parse((await runPond([...args, "--json"], { env })).stdout)
  const shown = await runPond(["search", "charged", "twice"], { env })
  expect(shown.stdout).toContain(" 19 Jan")
  const charged = async (from: string, to: string) =>
    (await asked("search", "charged", "twice", "--from", from, "--to", to)).matched_total as number
  expect(await charged("2026-01-19", "2026-01-19")).toBe(2)
  expect(await charged("2026-01-20", "2026-01-20")).toBe(0)
  const counted = await asked("stats", "--from", "2026-01-19", "--to", "2026-01-19")
  expect(counted.rows.map(({ key }: { key: string }) => key)).toEqual(["2026-01-19"])
  const out = `${home.path}/day.pond`
  expect((await asked("export", "-o", out, "--from", "2026-01-19", "--to", "2026-01-19")).sessions).toBe(1)
}, 60_000)
