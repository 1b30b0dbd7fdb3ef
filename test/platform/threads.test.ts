/** A thread that answers: in order, or with a failure that says whose it is, also where it ends without a word. */
import { expect, test } from "bun:test"
import { startAnswering } from "../../src/platform/threads.ts"

const URL_OF_THREAD = new URL("./answers-questions.ts", import.meta.url).href

async function started() {
  const thread = await startAnswering<string, { said: string }>(URL_OF_THREAD, "answers")
  if (thread === undefined) throw new Error("the thread did not start")
  return thread
}

test("questions that are asked at once are answered in their order, and a failure is of its own question alone", async () => {
  const thread = await started()
  const asked = ["one", "fail", "two"].map((each) => thread.ask(each).then(({ said }) => said, String))
  expect(await Promise.all(asked)).toEqual(["one", "PondError: The thread that answers has failed: asked to", "two"])
  thread.close()
})

test.each(["throw", "end"])(
  "a thread that ends when it is told to %s fails what it was asked, before and after",
  async (how) => {
    const thread = await started()
    const [before, after] = [thread.ask(how), thread.ask("one")]
    const failures = await Promise.allSettled([before, after])
    expect(failures.map(({ status }) => status)).toEqual(["rejected", "rejected"])
    await expect(thread.ask("two")).rejects.toThrow("The thread that answers has failed")
    thread.close()
  },
)

test("a question that is open when the thread is closed has failed, and so has one that comes later", async () => {
  const thread = await started()
  const open = thread.ask("wait")
  thread.close()
  await expect(open).rejects.toThrow("The thread that answers has failed: it ended")
  await expect(thread.ask("one")).rejects.toThrow("it ended")
})

test("a thread that cannot start is none", async () => {
  expect(await startAnswering(`${URL_OF_THREAD}.not-there.ts`, "answers")).toBeUndefined()
})
