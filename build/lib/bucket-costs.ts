/**
 * What a command of pond costs at a bucket, in requests and bytes: each is a separate process against the test server
 * of this one, so that what was opened or read before does not make it cheaper. The counts are the same each run.
 */
import {
  type ObjectServer,
  type ServedRequest,
  startObjectServer,
  TEST_BUCKET,
  TEST_KEY,
} from "../../test/support/object-server.ts"
import { BuildFailure } from "../release/targets.ts"
import { pondCommand } from "./timed-run.ts"

export interface Cost {
  readonly requests: number
  readonly down: number
  readonly up: number
  readonly stdout: string
  /** One row for each kind of request and place, the most frequent first. */
  readonly places: readonly Place[]
}

interface Place {
  readonly what: string
  readonly requests: number
  readonly down: number
  readonly up: number
}

interface BucketRun extends AsyncDisposable {
  readonly server: ObjectServer
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  cost(home: string, ...args: readonly string[]): Promise<Cost>
  /** Does the work while a server of that home answers for its commands. */
  served(home: string, work: () => Promise<void>): Promise<void>
}

export async function startBucketRun(prefix = "store"): Promise<BucketRun> {
  const server = await startObjectServer()
  const url = `${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/${prefix}`
  const env = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
  const spawn = (home: string, args: readonly string[]) =>
    Bun.spawn([...pondCommand(), ...args], {
      cwd: home,
      env: { HOME: home, PATH: process.env["PATH"] ?? "", NO_COLOR: "1", POND_STORE: url, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
  return {
    server,
    url,
    env,
    served: async (home, work) => {
      const child = spawn(home, ["serve", "--port", "0"])
      try {
        const { value } = await child.stdout.getReader().read()
        if (value === undefined) throw new BuildFailure("pond serve said nothing")
        await work()
      } finally {
        child.kill("SIGTERM")
        await child.exited
      }
    },
    cost: async (home, ...args) => {
      server.resetCounts()
      const child = spawn(home, args)
      const [stdout, stderr, exit] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ])
      if (exit !== 0) throw new BuildFailure(`pond ${args.join(" ")} ended with ${exit}: ${stderr.trim().slice(-800)}`)
      return { ...costOf(server.requests), stdout }
    },
    [Symbol.asyncDispose]: () => server.stop(),
  }
}

function costOf(requests: readonly ServedRequest[]): Omit<Cost, "stdout"> {
  const places = [...Map.groupBy(requests, placeOf)].map(([what, own]) => ({ what, ...sums(own) }))
  return { ...sums(requests), places: places.toSorted((one, other) => other.requests - one.requests) }
}

function sums(requests: readonly ServedRequest[]): Omit<Place, "what"> {
  let [down, up] = [0, 0]
  for (const request of requests) {
    down += request.down
    up += request.up
  }
  return { requests: requests.length, down, up }
}

/** `get messages.lance/_indices`: kind, status where it is no success, table and folder. */
function placeOf({ kind, key, status }: ServedRequest): string {
  const [, ...path] = key.split("/")
  const folder = path.slice(0, 2).join("/")
  return `${kind}${status < 300 ? "" : ` ${status}`} ${folder || "(listing)"}`
}

export function placesText({ places }: Pick<Cost, "places">): string {
  return places
    .map(({ what, requests, down, up }) => `  ${String(requests).padStart(6)}  ${kb(down)} down ${kb(up)} up  ${what}`)
    .join("\n")
}

function kb(bytes: number): string {
  return `${(bytes / 1000).toFixed(1).padStart(9)} kB`
}
