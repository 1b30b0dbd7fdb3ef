/**
 * The composition root: the one place where the layers are put together. Nothing is opened here; a service is made when
 * an operation first asks for it (`lazy`), so that a verb pays only for what it uses.
 */

import { hostname } from "node:os"
import { join } from "node:path"
import { runCommandLine } from "./cli/frame.ts"
import { VERBS } from "./cli/registry.ts"
import { PondError } from "./model/errors.ts"
import type { Listening, ListenRequest, Pond } from "./operations/pond.ts"
import { systemClock } from "./platform/clock.ts"
import { processEnvironment } from "./platform/environment.ts"
import { createHost, type Host } from "./platform/host.ts"
import { lazy } from "./platform/lazy.ts"
import { systemRandom } from "./platform/random.ts"
import { listenForEnd } from "./platform/signals.ts"
import { standardStreams } from "./platform/streams.ts"
import type { Sessions } from "./sessions/store.ts"

function composePond(host: Host): Pond {
  const opened: Sessions[] = []
  const sessions = lazy(async () => {
    const made = await openSessionsOf(host)
    opened.push(made)
    return made
  })
  const pond: Pond = {
    host,
    sessions,
    storeName: () => storeUrlOf(host),
    within: (namespace) =>
      namespace === undefined || namespace === host.settings().values.namespace
        ? Promise.resolve(pond)
        : Promise.reject(namespaceUnknown(namespace)),
    surfaces: {
      listen: async (request) => await listen(pond, request),
      speakMcp: async (signal) => {
        const { serveStdio } = await import("./mcp/server.ts")
        await serveStdio(pond, signal)
      },
    },
    close: () => {
      for (const made of opened.splice(0)) made.close()
      return Promise.resolve()
    },
  }
  return pond
}

async function listen(pond: Pond, { at, allowedHosts }: ListenRequest): Promise<Listening> {
  const [{ createHttp }, { listenOnPort, listenOnSocket }, { createMcpHandler }] = await Promise.all([
    import("./http/app.ts"),
    import("./http/server.ts"),
    import("./mcp/server.ts"),
  ])
  const fetch = createHttp({ pond, allowedHosts, mcp: createMcpHandler(pond) })
  return "socket" in at ? await listenOnSocket(fetch, at.socket) : listenOnPort(fetch, at.host, at.port)
}

function namespaceUnknown(namespace: string): PondError {
  return new PondError(
    "namespace_unknown",
    `This store has no namespace "${namespace}". \`pond namespace list\` says which it has.`,
    {
      details: { namespace },
    },
  )
}

/** Loaded when first asked for: `--help` and a dry run pay for no store. */
async function openSessionsOf(host: Host): Promise<Sessions> {
  const [{ openStore }, { parseLocation }, { openSessions }] = await Promise.all([
    import("./substrate/table.ts"),
    import("./substrate/location.ts"),
    import("./sessions/store.ts"),
  ])
  const location = parseLocation(storeUrlOf(host), { environment: host.environment })
  return openSessions(openStore(location, host), { clock: host.clock, host: hostname() })
}

/** Runs one command line in this process; resolves to its exit code when everything it wrote is out. */
export function runPond(argv: readonly string[]): Promise<number> {
  const environment = processEnvironment()
  return runCommandLine({
    argv,
    environment,
    streams: standardStreams(),
    clock: systemClock,
    verbs: VERBS,
    listenForEnd,
    compose: (flags, log) =>
      composePond(createHost({ environment, clock: systemClock, random: systemRandom, log, flags })),
  })
}

function storeUrlOf(host: Host): string {
  return host.settings().values.store ?? join(host.path("data"), "store")
}
