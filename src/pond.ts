/**
 * The composition root: the one place where the layers are put together. Nothing is opened here; a service is made when
 * an operation first asks for it (`lazy`), so that a verb pays only for what it uses.
 */
import { runCommandLine } from "./cli/frame.ts"
import { VERBS } from "./cli/registry.ts"
import type { Pond } from "./operations/pond.ts"
import { systemClock } from "./platform/clock.ts"
import { processEnvironment } from "./platform/environment.ts"
import { createHost, type Host } from "./platform/host.ts"
import { systemRandom } from "./platform/random.ts"
import { listenForEnd } from "./platform/signals.ts"
import { standardStreams } from "./platform/streams.ts"

function composePond(host: Host): Pond {
  return { host, close: () => Promise.resolve() }
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
