/** A small store to search in, and what is asked of it. */
import type { Entry } from "../../src/model/session.ts"
import { search } from "../../src/operations/wire/search.ts"
import type { SearchOutput } from "../../src/operations/wire/search-output.ts"
import { said, session } from "../sessions/support.ts"
import { memoryPond, type TestPond } from "./support.ts"

/** Three sessions of two clients, one of them an agent of another. */
export async function filled(box = memoryPond()): Promise<TestPond> {
  const at = (entry: Entry, timestamp: string) => ({ ...entry, message: { ...entry.message, timestamp } }) as Entry
  const tool = (sessionId: string, ordinal: number, result: string) =>
    ({
      message: { ...said(sessionId, ordinal, "").message, role: "tool", timestamp: "2026-01-05T00:00:00.000Z" },
      parts: [
        {
          id: "r",
          session_id: sessionId,
          message_id: `m${ordinal}`,
          provenance: "injected",
          options: {},
          type: "tool_result",
          call_id: "c",
          is_failure: false,
          result,
        },
      ],
    }) as unknown as Entry
  await box.place.sessions.write([
    {
      session: session("alpha", { project: "/work/web", title: "The migration" }),
      entries: [
        at(said("alpha", 0, "the database migration failed with ENOENT"), "2026-01-01T00:00:00.000Z"),
        at(said("alpha", 1, "run createStringifyOpts again", { role: "assistant" }), "2026-01-02T00:00:00.000Z"),
        at(said("alpha", 2, "thank you"), "2026-01-03T00:00:00.000Z"),
        tool("alpha", 3, 'cat: "secret plan": No such file\nENOENT'),
      ],
    },
    {
      session: session("beta", { project: "/work/api", source_agent: "other-client" }),
      entries: [at(said("beta", 0, "a migration of birds, 数据库 too"), "2026-02-01T00:00:00.000Z")],
    },
    {
      session: session("agent", {
        project: "/work/web",
        source_agent: "test-client/explorer",
        parent_session_id: "alpha",
      }),
      entries: [at(said("agent", 0, "exploring the migration", { role: "assistant" }), "2026-01-04T00:00:00.000Z")],
    },
  ])
  return box
}

export async function found(box: TestPond, input: object): Promise<SearchOutput> {
  return (await box.run(search, input)) as SearchOutput
}

/** Of each hit, the session and the message. */
export async function ids(box: TestPond, input: object): Promise<string[]> {
  const { matches = [] } = await found(box, { group: "none", limit: 100, ...input })
  return matches.map(({ session_id, message_id }) => `${session_id}/${message_id}`)
}
