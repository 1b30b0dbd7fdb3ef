import { expect, test } from "bun:test"
import { codex } from "../../../src/adapters/codex/adapter.ts"
import { fixture, item, line, said, type Thread, threadsBelow, threadWith, userItem } from "./support.ts"

function answer(text: string): unknown {
  return item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] })
}

function live(thread: Thread | undefined, ancestors: readonly Thread[] = []): string[] {
  return thread === undefined ? [] : said(codex.context(thread, ancestors))
}

/** The same, whether it is asked of the whole or of one message after the other. */
function needsOf(thread: Thread): readonly string[] | undefined {
  const [whole, apart] = [codex.lineage?.open(thread.session), codex.lineage?.open(thread.session)]
  whole?.push(thread.entries)
  for (const entry of thread.entries) apart?.push([entry])
  expect(apart?.needs()).toEqual(whole?.needs() ?? [])
  return whole?.needs()
}

/** What people and the model said; texts of the harness are left out. */
function spoken(lines: readonly string[]): string[] {
  return lines.filter((text) => !/^user: \[[a-z]|^assistant: \(/.test(text))
}

test("a fork goes on from the prefix of its parent that it names", async () => {
  const [parent, fork] = [...(await threadsBelow(fixture("forked"))).values()]
  if (parent === undefined || fork === undefined) throw new Error("no fork")
  const shared = [
    "user: [[scn:plain]] Hello, plain question — 質問です",
    "assistant: PLAIN-ANSWER こんにちは 🌸 — مرحبا بالعالم — שלום. Done.",
    "user: [[scn:plain2]] second prompt 二番",
    "assistant: PLAIN2-ANSWER the second turn continues the same session. 続き ✅",
  ]
  const own = [
    "user: [[scn:forked]] a different direction",
    "assistant: FORK-ANSWER this answer lives only on the fork. 分岐 🍴",
    "user: [[scn:plain3]] third prompt",
    "assistant: PLAIN3-ANSWER a third turn, after resume. 三回目 ③",
  ]
  expect(spoken(live(parent))).toEqual(shared)
  expect(spoken(live(fork, [parent]))).toEqual([...shared, ...own])
  // Without the parent it is what it holds itself.
  expect(spoken(live(fork))).toEqual(own)
  expect(needsOf(fork)).toEqual([parent.session.id])
  expect(needsOf(parent)).toEqual([])
})

test("a reverted thread goes on from a prefix of its own first rollout, and needs nobody", async () => {
  const [thread] = (await threadsBelow(fixture("reverted"))).values()
  expect(spoken(live(thread))).toEqual([
    "user: [[scn:plain]] Hello, plain question — 質問です",
    "assistant: PLAIN-ANSWER こんにちは 🌸 — مرحبا بالعالم — שלום. Done.",
    "user: [[scn:forked]] a different direction",
    "assistant: FORK-ANSWER this answer lives only on the fork. 分岐 🍴",
  ])
  // What was reverted is kept all the same.
  expect(said(thread?.entries ?? [])).toContain("user: [[scn:plain2]] second prompt 二番")
  expect(thread === undefined || needsOf(thread)).toEqual([])
})

test("a compaction leaves the history that its record holds", async () => {
  const [thread] = (await threadsBelow(fixture("compacted"))).values()
  const lines = live(thread)
  expect(spoken(lines)).toEqual([
    'user: [[scn:tools]] please do the tool tour 道具 "quoted" & <tag>',
    "user: [[scn:big]] fill the context",
    "user: [[scn:plain2]] second prompt 二番",
    "assistant: PLAIN2-ANSWER the second turn continues the same session. 続き ✅",
  ])
  const summary = codex.context(thread as Thread, []).filter(({ message }) => {
    return (message.options["pond"] as { compaction?: boolean } | undefined)?.compaction
  })
  expect(said(summary)).toEqual([
    expect.stringMatching(/^user: \[compact-summary\] Another language model.*SUMMARY-TEXT/s),
  ])
})

test("a summary alone keeps what the user said before it", async () => {
  const thread = await threadWith(
    userItem("one"),
    answer("1"),
    line("compacted", { message: "They counted." }),
    userItem("two"),
    answer("2"),
  )
  expect(live(thread)).toEqual(["user: one", "user: [compact-summary] They counted.", "user: two", "assistant: 2"])
})

test("turns that were rolled back are not sent, and a turn begins with what a person asked", async () => {
  const thread = await threadWith(
    userItem("<environment_context></environment_context>"),
    userItem("one"),
    answer("1"),
    userItem("two"),
    answer("2"),
    line("event_msg", { type: "thread_rolled_back", num_turns: 1 }),
    userItem("three"),
  )
  const environment = "user: [environment-context] <environment_context></environment_context>"
  expect(live(thread)).toEqual([environment, "user: one", "assistant: 1", "user: three"])
  const all = await threadWith(
    userItem("one"),
    answer("1"),
    line("event_msg", { type: "thread_rolled_back", num_turns: 9 }),
  )
  expect(live(all)).toEqual([])
  const none = await threadWith(answer("0"), line("event_msg", { type: "thread_rolled_back", num_turns: 2 }))
  expect(live(none)).toEqual(["assistant: 0"])
})

/** Codex 0.169 was asked: it sends none of these, and what is no fragment of its own it takes for a turn. */
test("what the client said of the state of things goes with the turn that was rolled back", async () => {
  const told = [
    "<user_shell_command>\n<command>\nls\n</command>\n<result>\nmain.ts\n</result>\n</user_shell_command>",
    "<environment_context></environment_context>",
    "<subagent_notification></subagent_notification>",
    "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nNEW\n</INSTRUCTIONS>",
    "<skill></skill>",
    "<turn_aborted></turn_aborted>",
  ]
  const rollback = line("event_msg", { type: "thread_rolled_back", num_turns: 1 })
  const turn = [userItem("two"), answer("2"), rollback, userItem("three")]
  const thread = await threadWith(userItem("one"), answer("1"), ...told.map((text) => userItem(text)), ...turn)
  expect(live(thread)).toEqual(["user: one", "assistant: 1", "user: three"])
  const first = await threadWith(userItem("<skill></skill>"), ...turn)
  expect(live(first)).toEqual(["user: [skill] <skill></skill>", "user: three"])
})

test("history that leads back to itself is followed once", async () => {
  const base = { thread_id: "019c0000-0000-7000-8000-000000000001", end_ordinal_exclusive: 99, end_byte_offset: 1 }
  const thread = await threadWith(line("session_meta", { id: base.thread_id, history_base: base }), userItem("one"))
  expect(live(thread)).toEqual(["user: one"])
})
