/** Where credentials stand in a store, and that none of them is in the answer. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { perform } from "../../src/operations/operation.ts"
import type { Secrets } from "../../src/operations/store/secrets.ts"
import { secrets } from "../../src/operations/store/store-operations.ts"
import { said, session } from "../sessions/support.ts"
import { CREDENTIAL_SHAPES, LOOK_ALIKES } from "../support/credential-shapes.ts"
import { memoryPond, type TestPond } from "./support.ts"

const TOKEN = `ghp${"_"}${"aB3dE5gH7jK9mN1pQ3sT5vX7zA2cD4fG6aB3dE"}`.slice(0, 40)

let box: TestPond
beforeAll(async () => {
  box = memoryPond()
  await box.place.sessions.write([
    {
      session: session("leaks", { project: "/work/shop" }),
      entries: [
        said("leaks", 0, `here is my token: ${TOKEN}`, { id: "m0" }),
        said("leaks", 1, "thank you", { id: "m1" }),
        said("leaks", 2, `again ${TOKEN}, and postgres://app:tr0ub4dor-3@db/x`, { id: "m2" }),
      ],
    },
    { session: session("other", { project: "/work/other" }), entries: [said("other", 0, `TOKEN ${TOKEN}`)] },
    { session: session("clean"), entries: LOOK_ALIKES.map((text, index) => said("clean", index, text)) },
    {
      session: session("shapes", { project: "/work/shapes" }),
      entries: CREDENTIAL_SHAPES.map(([, around, secret], index) =>
        said(
          "shapes",
          index,
          around.replace("%%", () => secret),
        ),
      ),
    },
  ])
})
afterAll(() => box[Symbol.dispose]())

const ask = async (request: object = {}) => (await box.run(secrets as never, request)) as Secrets

test("each is told with its kind, its session and its message, once", async () => {
  const { findings, kinds, secrets: count, sessions } = await ask({ session_id: "leaks" })
  const told = findings.map(({ kind, session_id, message_id, project }) => [kind, session_id, message_id, project])
  expect(told.toSorted()).toEqual([
    ["GitHub token", "leaks", "m0", "/work/shop"],
    ["GitHub token", "leaks", "m2", "/work/shop"],
    ["password in a URL", "leaks", "m2", "/work/shop"],
  ])
  expect({ kinds, count, sessions }).toEqual({
    kinds: [
      { kind: "GitHub token", secrets: 1, findings: 2 },
      { kind: "password in a URL", secrets: 1, findings: 1 },
    ],
    count: 2,
    sessions: 1,
  })
})

test("the same credential has one number in all sessions, and what only looks like one is not told", async () => {
  const { findings } = await ask()
  const numbers = findings.filter(({ session_id }) => ["leaks", "other"].includes(session_id))
  expect(new Set(numbers.filter(({ kind }) => kind === "GitHub token").map(({ secret }) => secret)).size).toBe(1)
  expect(findings.filter(({ session_id }) => session_id === "clean")).toEqual([])
})

test("a store of every shape is told without any of them", async () => {
  const answer = await ask({ project: "shapes" })
  expect(new Set(answer.findings.map(({ message_id }) => message_id)).size).toBe(CREDENTIAL_SHAPES.length)
  const told = JSON.stringify(answer)
  expect(CREDENTIAL_SHAPES.filter(([, , secret]) => told.includes(secret.slice(0, 24)))).toEqual([])
})

test("it ends when it is interrupted", async () => {
  const signal = AbortSignal.abort()
  const asked = perform(secrets, { pond: box.pond, signal }, {}).catch((error: unknown) => error)
  expect(await asked).toMatchObject({ code: "interrupted" })
})
