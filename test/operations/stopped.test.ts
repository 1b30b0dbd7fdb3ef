/** An operation that is stopped says whether its time was up or somebody gave up: clients ask again for less, or not at all. */
import { expect, test } from "bun:test"
import { PondError } from "../../src/model/errors.ts"
import { closedObject, defineOperation, perform } from "../../src/operations/operation.ts"
import { memoryPond } from "./support.ts"

const stopped = defineOperation({
  name: "stopped",
  summary: "Is stopped.",
  input: closedObject({}),
  output: closedObject({}),
  errors: ["interrupted"],
  surfaces: { http: true },
  read: true,
  run: ({ signal }) => Promise.reject(signal.reason),
})

test.each([
  ["TimeoutError", "The request timed out. Request less at once."],
  ["AbortError", "The request was stopped."],
])("a signal with a %s", async (name, message) => {
  using box = memoryPond()
  const controller = new AbortController()
  controller.abort(new DOMException("enough", name))
  const error = await perform(stopped, { pond: box.pond, signal: controller.signal }, {}).catch(
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(PondError)
  expect(error).toMatchObject({ code: "interrupted", message })
})
