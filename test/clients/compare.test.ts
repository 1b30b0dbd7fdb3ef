import { expect, test } from "bun:test"
import { compare } from "./compare.ts"
import type { Item } from "./model/request.ts"

const CONVERSATION: readonly Item[] = [
  { role: "user", text: "What is here?", images: 1 },
  { role: "assistant", text: "I look." },
  { role: "call", id: "call_1", name: "bash", args: '{"command":"ls -1 /somewhere"}' },
  { role: "call", id: "call_2", name: "read", args: '{"path":"/somewhere/a.md"}' },
  { role: "result", id: "call_1", text: "a.md\nb.md" },
  { role: "result", id: "call_2", text: "# A" },
  { role: "assistant", text: "Two files." },
]

const without = (index: number): Item[] => CONVERSATION.filter((_, at) => at !== index)
const changed = (index: number, change: Partial<Item>): Item[] =>
  CONVERSATION.map((item, at) => (at === index ? { ...item, ...change } : item))
const swapped = (left: number, right: number): Item[] =>
  CONVERSATION.map(
    (item, at) =>
      CONVERSATION[
        new Map([
          [left, right],
          [right, left],
        ]).get(at) ?? at
      ] ?? item,
  )

test("what the provider did himself has no result to compare, and any other call has", () => {
  const search: Item = { role: "call", id: "ws_1", name: "web_search", args: "{}" }
  const faultsOf = (call: Item) => compare([search], [call], { isForeign: false }).faults.length
  expect([{ ...search, isHosted: true }, search].map(faultsOf)).toEqual([0, 2])
})

test("half of a character is what clients send in its place, and nothing else", () => {
  const cut = changed(0, { text: "What is here? \ud83d" })
  const faultsOf = (text: string) => compare(cut, changed(0, { text }), { isForeign: false }).faults.length
  expect(["What is here? \ufffd", "What is here? "].map(faultsOf)).toEqual([0, 0])
  expect(["What is there? \ufffd", "What is \ufffd"].map(faultsOf)).toEqual([1, 1])
})

test("a conversation is the same as itself, and as itself with what a client says of its surroundings", () => {
  const around: Item[] = [
    { role: "user", text: "<surroundings/>" },
    ...CONVERSATION,
    { role: "reasoning", text: "Hm." },
  ]
  for (const got of [CONVERSATION, around]) {
    expect(compare(CONVERSATION, got, { isForeign: false })).toEqual({
      ...{ isSame: true, messages: "3/3", calls: "2/2", images: "1/1", faults: [] },
    })
  }
})

test.each([
  ["a lost message", without(1), "missing, or not in order: assistant"],
  ["a changed message", changed(6, { text: "Three files." }), "missing, or not in order: assistant"],
  ["messages in another order", swapped(1, 6), "missing, or not in order"],
  ["a lost call", without(2), "missing, or not in order: call"],
  ["a lost result", without(4), "no result of bash"],
  ["a changed result", changed(5, { text: "# B" }), "another result of read"],
  [
    "results that changed places",
    swapped(4, 5).map((item, at) => ({ ...item, ...idAt(at) })),
    "another result of bash",
  ],
  ["a lost picture", changed(0, { images: 0 }), "a picture is missing"],
  ["an answer that nobody gave", [...CONVERSATION, { role: "assistant", text: "By the way." }], "nobody said"],
  ["a result told twice", [...CONVERSATION, CONVERSATION[5] as Item], "two results of one call"],
] as const)("%s is found", (_, got: readonly Item[], fault) => {
  const { isSame, faults } = compare(CONVERSATION, got, { isForeign: false })
  expect({ isSame, faults: faults.join("; ") }).toEqual({ isSame: false, faults: expect.stringContaining(fault) })
})

function idAt(at: number): Partial<Item> {
  const { id } = CONVERSATION[at] ?? {}
  return id === undefined ? {} : { id }
}

test("in another client a call is known by what it was given, whatever its id and tool are called", () => {
  const renamed = CONVERSATION.map((item) =>
    item.id === undefined ? item : { ...item, id: `x-${item.id}`, name: "shell", ...wrapped(item) },
  )
  expect(compare(CONVERSATION, renamed, { isForeign: true }).faults).toEqual([])
  expect(compare(CONVERSATION, renamed, { isForeign: false }).isSame).toBe(false)
})

test("a text that is said twice is found in any client, and one that was said twice is none", () => {
  const text = "The list is written."
  const said: Item[] = [...CONVERSATION, { role: "assistant", text }]
  const twice: Item[] = [...said, { role: "user", text: `Earlier: ${text}` }]
  for (const isForeign of [true, false]) {
    expect(compare(said, twice, { isForeign }).faults.join()).toContain("said twice")
    expect(compare(twice, twice, { isForeign }).faults).toEqual([])
  }
})

function wrapped({ args }: Item): Partial<Item> {
  return args === undefined
    ? {}
    : { args: JSON.stringify({ cmd: ["bash", "-lc", Object.values(JSON.parse(args))[0]] }) }
}
