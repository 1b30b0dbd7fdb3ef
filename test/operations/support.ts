/** A pond over a temporary store, to run operations as the command line, HTTP and MCP do. */
import type { TSchema } from "typebox"
import { PondError } from "../../src/model/errors.ts"
import { type Operation, perform } from "../../src/operations/operation.ts"
import type { Pond } from "../../src/operations/pond.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { createHost } from "../../src/platform/host/host.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { openNamespaces } from "../../src/substrate/namespaces.ts"
import { memorySessionsAt, type TestSessions, testSessions } from "../sessions/support.ts"

export interface TestPond extends Disposable {
  readonly pond: Pond
  readonly place: TestSessions
  run<I extends TSchema, O extends TSchema>(operation: Operation<I, O>, input: unknown): Promise<unknown>
}

/** Over a store in memory, for what is not about Lance: reads and writes cost a tenth there. */
export function memoryPond(): TestPond {
  return pondOver(memorySessionsAt())
}

/** `variables`: further ones of its environment. */
export function testPond(variables: Readonly<Record<string, string>> = {}): TestPond {
  return pondOver(testSessions(), variables)
}

function pondOver(place: TestSessions, variables: Readonly<Record<string, string>> = {}): TestPond {
  const own = { HOME: place.path, XDG_STATE_HOME: `${place.path}/state`, XDG_CACHE_HOME: `${place.path}/cache` }
  const environment = { ...own, ...variables }
  const pond: Pond = {
    host: createHost({
      lifetime: "command",
      environment,
      clock: systemClock,
      random: seededRandom(1),
      log: silentLog,
      flags: {},
    }),
    sessions: () => Promise.resolve(place.sessions),
    embedder: () => Promise.resolve(undefined),
    namespace: () => "local",
    namespaces: () => Promise.resolve(openNamespaces(place.sessions.store, systemClock)),
    sessionsAt: () => Promise.reject(new Error("no other store here")),
    storeName: () => place.path,
    within: (namespace) =>
      namespace === undefined || namespace === "local"
        ? Promise.resolve(pond)
        : Promise.reject(new PondError("namespace_unknown", "no such namespace")),
    surfaces: {
      listen: () => Promise.reject(new Error("none here")),
      findServer: async () => undefined,
      speakMcp: () => Promise.reject(new Error("none here")),
    },
    close: () => Promise.resolve(),
  }
  const signal = new AbortController().signal
  return {
    pond,
    place,
    run: (operation, input) => perform(operation, { pond, signal }, input),
    [Symbol.dispose]: () => place[Symbol.dispose](),
  }
}
