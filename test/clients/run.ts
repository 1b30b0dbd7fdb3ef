/** Runs a client where it cannot see or reach anything but its home and the scripted model, and says what it asked that one. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Client } from "./client.ts"
import type { Item } from "./model/request.ts"
import type { Logged } from "./model/server.ts"
import type { Place } from "./place.ts"

export interface Run {
  readonly client: Client
  readonly place: Place
  readonly home: string
  readonly cwd: string
  readonly log: string
  readonly words: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly lingerSeconds?: number
}

export interface Ran {
  readonly code: number
  readonly said: string
  readonly complaints: string
  readonly requests: readonly Logged[]
}

export const REPOSITORY = join(import.meta.dir, "../..")
const TIMEOUT_S = 300

export function run({ client, place, home, cwd, log, words, environment, lingerSeconds = 0.2 }: Run): Ran {
  const from = existsSync(log) ? statSync(log).size : 0
  const given = Object.entries({ ...client.environment, ...environment }).map(([name, value]) => `${name}=${value}`)
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    ["bash", join(import.meta.dir, "isolated.sh"), home, cwd, log, ...given, ...words],
    {
      stdin: "ignore",
      stderr: "pipe",
      env: {
        ...{ PATH: "/usr/sbin:/usr/bin:/sbin:/bin", CLIENTS_ROOT: place.root, HOME: process.env["HOME"] ?? "" },
        ...{ BUN: process.execPath, MODEL: join(import.meta.dir, "model/server.ts") },
        ...{ TIMEOUT_S: String(TIMEOUT_S), LINGER_S: String(lingerSeconds) },
        SEEN: [REPOSITORY, dirname(process.execPath), place.root].join(":"),
      },
    },
  )
  const lines = existsSync(log) ? readFileSync(log).subarray(from).toString("utf8").split("\n") : []
  return {
    code: exitCode,
    said: stdout.toString(),
    complaints: stderr.toString(),
    requests: lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Logged),
  }
}

/**
 * What the session is by its own client's word: the conversation of the last request of the session itself, and the answer
 * to it. A client puts words of its own around a prompt: the prompt begins at its mark.
 */
export function truthOf(requests: readonly Logged[]): Item[] | undefined {
  const scripted = requests.filter(({ kind, script }) => kind === "script" && script !== "subwork")
  const most = Math.max(0, ...scripted.map(({ tools }) => tools.length))
  const last = scripted.findLast(({ tools }) => tools.length === most)
  if (last === undefined) return undefined
  const { text, calls } = last.reply
  return [
    ...last.items.flatMap(toldItem),
    ...(text === "" ? [] : [{ role: "assistant", text } as const]),
    ...calls.map(
      ({ id, name, input, params }) => ({ role: "call", id, name, args: input ?? JSON.stringify(params) }) as const,
    ),
  ]
}

const PROMPT = /\[\[(?:script|scn):[^\n]*?(?="?\s*$|"?\n|<\/)/m
const SUMMED_UP = /SUMMARY-TEXT[^\n<]*/

function toldItem(item: Item): Item[] {
  const { role, text = "", images } = item
  if (role === "reasoning") return []
  if (role !== "user") return role === "assistant" && text === "" ? [] : [item]
  const said = PROMPT.exec(text)?.[0].replace(/"$/, "") ?? SUMMED_UP.exec(text)?.[0]
  if (said === undefined && images === undefined) return []
  return [{ role, text: said ?? "", ...(images === undefined ? {} : { images }) }]
}
