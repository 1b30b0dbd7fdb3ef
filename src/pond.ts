/**
 * The composition root: the one place where the layers are put together. Nothing is opened here; a service is made when
 * an operation first asks for it (`lazy`), so that a verb pays only for what it uses.
 */
import { hostname } from "node:os"
import { join, resolve } from "node:path"
import { runCommandLine } from "./cli/frame/run-command-line.ts"
import { VERBS } from "./cli/registry.ts"
import type { Embedder } from "./embeddings/embedder.ts"
import { wantsVectors } from "./embeddings/enabled.ts"
import type { Holder } from "./http/remote.ts"
import type { Rendezvous } from "./http/rendezvous.ts"
import { PondError } from "./model/errors.ts"
import type { Listening, ListenRequest, Pond } from "./operations/pond.ts"
import { systemClock } from "./platform/host/clock.ts"
import { processEnvironment } from "./platform/host/environment.ts"
import { createHost, type Host } from "./platform/host/host.ts"
import { systemRandom } from "./platform/host/random.ts"
import { compileAsUsual } from "./platform/jit.ts"
import { lazy } from "./platform/lazy.ts"
import { type ListenForEnd, listenForEnd } from "./platform/process/signals.ts"
import { type Streams, standardStreams } from "./platform/process/streams.ts"
import type { Sessions } from "./sessions/store.ts"
import type { Excludes } from "./sessions/write/exclusions.ts"
import type { Namespaces } from "./substrate/namespaces.ts"
import { folderOf, PERSONAL_NAMESPACE } from "./substrate/namespaces.ts"
import type { Store } from "./substrate/table.ts"

interface Stores {
  namespaces(): Promise<Namespaces>
  /** What lies in the configured store under that namespace. */
  within(namespace: string): Promise<Store>
  /** Lets go of a namespace that nobody asks for. Work that goes on in it ends as it would. */
  leave(namespace: string): Promise<void>
  /** The same of another store. */
  at(url: string, namespace: string): Promise<Store>
  /** Begins anew: what was opened is closed with the rest. */
  forget(): void
  close(): void
}

function storesOf(host: Host): Stores {
  const opened = new Set<Store>()
  const open = async (url: string) => {
    const made = await openStoreOf(host, url)
    opened.add(made)
    return made
  }
  const namesIn = async (store: Store): Promise<Namespaces> => {
    const { openNamespaces } = await import("./substrate/namespaces.ts")
    return openNamespaces(store, host.clock)
  }
  const begin = () => {
    const root = lazy(() => open(storeUrlOf(host)))
    return { root, namespaces: lazy(async () => await namesIn(await root())) }
  }
  let own = begin()
  return {
    namespaces: () => own.namespaces(),
    within: async (namespace) => {
      if (namespace === PERSONAL_NAMESPACE) return await own.root()
      const store = await (await own.namespaces()).resolve(namespace)
      opened.add(store)
      return store
    },
    leave: async (namespace) => {
      const names = await own.namespaces()
      opened.delete(await names.resolve(namespace))
      names.forget(namespace)
    },
    at: async (url, namespace) => await (await namesIn(await open(url))).resolve(namespace),
    forget: () => {
      own = begin()
    },
    close: () => {
      for (const made of opened) made.close()
      opened.clear()
    },
  }
}

/** Longer than any request takes. */
const NAMESPACE_IDLE_MS = 15 * 60_000

/** A server may meet thousands of namespaces, each of which keeps tables open: those that nobody asks for are forgotten. */
function keepPonds(stores: Stores, { clock }: Pick<Host, "clock">) {
  const known = new Map<string, { readonly pond: Pond; usedMs: number }>()
  return async (namespace: string, make: () => Pond): Promise<Pond> => {
    for (const [name, { usedMs }] of known) {
      if (clock.monotonicMs() - usedMs < NAMESPACE_IDLE_MS) continue
      known.delete(name)
      await stores.leave(name)
    }
    if (!known.has(namespace)) await (await stores.namespaces()).resolve(namespace)
    const found = known.get(namespace) ?? { pond: make(), usedMs: 0 }
    found.usedMs = clock.monotonicMs()
    known.set(namespace, found)
    return found.pond
  }
}

function composePond(host: Host): Pond {
  const stores = storesOf(host)
  const pondWithin = keepPonds(stores, host)
  const closing = new AbortController()
  const embedder = lazy(async () => {
    if (!wantsVectors(host.settings().values.embeddings)) return undefined
    const { openConfigured } = await import("./embeddings/configured.ts")
    const { clock, log } = host
    const context = {
      cacheDirectory: host.path("cache"),
      stateDirectory: host.path("state"),
      clock,
      log,
      signal: closing.signal,
    }
    return await openConfigured(host.settings().values.embeddings, context)
  })
  let embedding: Promise<Embedder | undefined> | undefined
  let isServing = false
  /** Of an agent's process. */
  let rendezvous: Rendezvous | undefined
  const remote = lazy(() => import("./http/remote.ts"))
  const marks = lazy(() => import("./operations/store/store-identity.ts"))

  /** The only place where the name of a namespace becomes a store (`wire-namespace-resolution`). */
  function pondOf(namespace: () => string): Pond {
    const openOwn = async () => await openSessionsOf(await stores.within(namespace()), host, await excludesOfHost(host))
    let [sessions, seen]: [typeof openOwn, string | undefined] = [lazy(openOwn), undefined]
    const pond: Pond = {
      host,
      sessions: async () => {
        const { NO_STORE, storeIdentity } = await marks()
        const { environment } = host
        const mark = storeIdentity(storeNameOf(host, namespace()), { environment })
        // Removed by hand, or another in its place: what was opened is of no use, and neither is what is kept of it.
        const isOther = seen !== undefined && seen !== NO_STORE && seen !== mark
        if (isOther) {
          stores.forget()
          sessions = lazy(openOwn)
        }
        seen = mark
        return await sessions()
      },
      namespaces: stores.namespaces,
      embedder: () => {
        embedding = embedder()
        return embedding
      },
      namespace,
      sessionsAt: async (url) => await openSessionsOf(await stores.at(url, namespace()), host),
      storeName: () => storeNameOf(host, namespace()),
      within: async (wanted) => {
        if (wanted === undefined || wanted === namespace()) return pond
        return await pondWithin(wanted, () => pondOf(() => wanted))
      },
      remote: async (operation, input, signal) => {
        if (isServing) return undefined
        const { createRemote, rendezvousPath } = await remote()
        const others = HOLDERS.filter((holder) => holder === "serve" || rendezvous?.isHeld() !== true)
        const sockets = others.flatMap((holder) => rendezvousPath(host, rendezvousName(host), holder) ?? [])
        const answer = await createRemote({ host, sockets, namespace })(operation, input, signal)
        // Whoever answered has ended: the next of several agents' processes answers in its place.
        if (answer === undefined) await rendezvous?.take()
        return answer
      },
      surfaces: surfacesOf(() => pond, {
        onServe: () => {
          isServing = true
        },
        onSpeak: (made) => {
          rendezvous = made
        },
      }),
      close: async () => {
        closing.abort()
        stores.close()
        // A model that could not be opened was told to whoever asked for it.
        const made = await embedding?.catch(() => undefined)
        embedding = undefined
        await made?.close()
      },
    }
    return pond
  }
  return pondOf(() => host.settings().values.namespace)
}

interface Begun {
  onServe(): void
  onSpeak(rendezvous: Rendezvous): void
}

/** In the order in which they are asked. */
const HOLDERS: readonly Holder[] = ["serve", "mcp"]

function surfacesOf(own: () => Pond, begun: Begun): Pond["surfaces"] {
  return {
    listen: async (request) => {
      begun.onServe()
      const rendezvous = await openRendezvous(own(), "serve", request.allowedHosts)
      const listening = await listen(own(), request)
      await rendezvous.take()
      return { ...listening, stop: async () => void (await Promise.all([listening.stop(), rendezvous.stop()])) }
    },
    findServer: async (port) => {
      const { findServer } = await import("./http/find-server.ts")
      return await findServer(own().host, port, (await own().sessions()).store.location.shown)
    },
    speakMcp: async (signal) => {
      const { serveStdio } = await import("./mcp/server.ts")
      const speaking = serveStdio(own(), signal)
      const rendezvous = await openRendezvous(own(), "mcp")
      begun.onSpeak(rendezvous)
      await rendezvous.take()
      await speaking.finally(rendezvous.stop)
    },
  }
}

async function listen(pond: Pond, { at, allowedHosts, isTokenRequired, hasPage }: ListenRequest): Promise<Listening> {
  const [{ createHttp }, { requireToken }, { createMcpHandler }] = await Promise.all([
    import("./http/app.ts"),
    import("./http/access.ts"),
    import("./mcp/server.ts"),
  ])
  const served = isNamespaceNamed(pond.host) ? limitedToNamespace(pond) : pond
  const isUnguarded = !isTokenRequired && !("socket" in at)
  const fetch = createHttp({ pond: served, allowedHosts, mcp: createMcpHandler(pond), hasPage, isUnguarded })
  if ("socket" in at) return await (await import("./http/socket-listener.ts")).listenOnSocket(fetch, at.socket)
  const token = isTokenRequired ? (await import("./http/token.ts")).openToken(pond.host) : undefined
  const guarded = token === undefined ? fetch : requireToken(fetch, token.value)
  const { address, stop } = await (await import("./http/server.ts")).listenOnPort(guarded, at.host, at.port)
  return { address, ...(token === undefined ? {} : { token }), stop }
}

/** Only this user's own commands ask there, which may open every namespace by themselves. */
async function openRendezvous(pond: Pond, holder: Holder, allowedHosts: readonly string[] = []): Promise<Rendezvous> {
  const [{ createRendezvous }, { rendezvousPath }] = await Promise.all([
    import("./http/rendezvous.ts"),
    import("./http/remote.ts"),
  ])
  const path = rendezvousPath(pond.host, rendezvousName(pond.host), holder)
  // That another agent's process holds it is how it should be.
  const log = holder === "serve" ? pond.host.log.info : pond.host.log.debug
  return createRendezvous({ path, host: pond.host, log }, async () => {
    const { createHttp } = await import("./http/app.ts")
    return createHttp({ pond, allowedHosts })
  })
}

/** By a flag, a variable or the config file: the server is then that namespace's alone. */
function isNamespaceNamed(host: Host): boolean {
  return host.settings().effective.some(({ key, origin }) => key === "namespace" && origin.kind !== "default")
}

function limitedToNamespace(pond: Pond): Pond {
  const own = pond.namespace()
  return {
    ...pond,
    within: async (wanted) => {
      if (wanted === undefined || wanted === own) return await pond.within(own)
      throw new PondError("namespace_unknown", `This server answers for the namespace "${own}" only.`, {
        details: { namespace: wanted },
      })
    },
  }
}

/** One name for a store, whichever directory it is named from. */
function rendezvousName(host: Host): string {
  const url = storeUrlOf(host)
  return url.includes("://") ? url.replace(/\/+$/, "") : resolve(url)
}

/** Loaded when first asked for: `--help` and a dry run pay for no store. */
async function openStoreOf(host: Host, url: string): Promise<Store> {
  const [{ openStore }, { parseLocation }] = await Promise.all([
    import("./substrate/open-store.ts"),
    import("./substrate/location.ts"),
  ])
  const { environment, clock, random, log } = host
  const { storage, bucket_cache_mb: cacheMb } = host.settings().values
  const cache = { folder: join(host.path("cache"), "buckets"), bytesMax: cacheMb * 1_000_000 }
  return openStore(parseLocation(url, { environment, configured: storage }), { clock, random, log, cache })
}

async function openSessionsOf(store: Store, { clock, lifetime }: Host, excludes?: Excludes): Promise<Sessions> {
  const { openSessions } = await import("./sessions/store.ts")
  return openSessions(store, { clock, host: hostname(), lifetime, ...(excludes === undefined ? {} : { excludes }) })
}

async function excludesOfHost(host: Host): Promise<Excludes | undefined> {
  const { excluded } = host.settings().values.projects
  return excluded.length === 0 ? undefined : (await import("./sessions/write/exclusions.ts")).excludesOf(excluded)
}

/** What stands around a command line besides its environment: where it writes, and who may end it. */
export interface Surround {
  readonly streams: Streams
  readonly listenForEnd: ListenForEnd
}

/** Runs one command line in this process; resolves to its exit code when everything it wrote is out. */
export function runPond(argv: readonly string[], around?: Surround): Promise<number> {
  const environment = processEnvironment()
  return runCommandLine({
    argv,
    environment,
    ...(around ?? { streams: standardStreams(), listenForEnd }),
    clock: systemClock,
    verbs: VERBS,
    compose: (flags, log, lifetime) => {
      if (lifetime === "server") compileAsUsual()
      return composePond(createHost({ lifetime, environment, clock: systemClock, random: systemRandom, log, flags }))
    },
  })
}

function storeUrlOf(host: Host): string {
  return host.settings().values.store ?? join(host.path("data"), "store")
}

/** What lies there is the store of that namespace alone, so its URL is its name. */
function storeNameOf(host: Host, namespace: string): string {
  const url = storeUrlOf(host)
  return namespace === PERSONAL_NAMESPACE ? url : `${url.replace(/\/+$/, "")}/${folderOf(namespace)}`
}
