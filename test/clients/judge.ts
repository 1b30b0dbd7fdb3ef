/**
 * The client itself judges what was restored into it: it must list the session, resume it with another prompt, and send its
 * model the conversation that the session had. That it says so, or ends well, proves nothing: what it sends does.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Client } from "./client.ts"
import { modelOf, providerOf } from "./clients.ts"
import { compare } from "./compare.ts"
import type { Step } from "./drive.ts"
import type { Item } from "./model/request.ts"
import type { Place } from "./place.ts"
import { type Ran, run } from "./run.ts"

export interface Case {
  readonly place: Place
  readonly client: Client
  /** A home with the session in it. It is copied, and not changed. */
  readonly home: string
  readonly session: string
  readonly cwd: string
  readonly wanted: readonly Item[]
  readonly isForeign: boolean
  /** Where it was held before it was restored into `cwd`: the paths of what was said there may be those of here. */
  readonly project?: string
  /** Not by its command line, but over its server. */
  readonly isServed?: boolean
  /** It was asked for its list already, for many sessions at once. */
  readonly isListed?: true
}

export interface Verdict {
  readonly isGood: boolean
  readonly said: string
  readonly faults: readonly string[]
  /** Whether anything of the conversation was sent. */
  readonly isOpened: boolean
}

export function judge(asked: Case): Verdict {
  const { place, client, session, isForeign } = asked
  const wanted = client.hasNoTools === true ? asked.wanted.filter(isSaid) : asked.wanted
  const work = join(place.root, "work")
  mkdirSync(work, { recursive: true })
  const scratch = mkdtempSync(join(work, `${client.name}-`))
  try {
    const isListed = asked.isListed ?? listed(asked, scratch)
    const home = copied(asked, scratch, "resume")
    const word = crypto.randomUUID().slice(0, 8)
    const provider = providerOf(client, home, session)
    const prompt = `[[check:${word}]] go on`
    const words =
      (asked.isServed === true ? client.served?.(session, prompt) : undefined) ??
      client.resume(session, prompt, provider === undefined ? {} : { provider })
    const ran = asks(asked, scratch, home, words)
    const sent = ran.requests.findLast(({ kind, items }) => kind === "check" && mentions(items, word))?.items
    const unlisted = isListed ? [] : ["not listed"]
    if (sent === undefined || ran.code !== 0) {
      const faults = [`not resumed (${ran.code}): ${oneLine(ran.complaints || ran.said)}`, ...unlisted]
      return { isGood: false, said: faults.join("; "), faults, isOpened: false }
    }
    const isOther = (item: Item) => client.isOwn?.(item) !== true
    const told = client.repeatsResults === true ? withoutRepeated(sent) : sent
    const got = told.filter(({ role, text = "" }) => role !== "user" || !text.includes(`:${word}]]`)).filter(isOther)
    const compared = compare(atHome(asked, wanted), atHome(asked, got), { isForeign })
    const { messages, calls, images } = compared
    const counts = `messages ${messages}, calls ${calls}, pictures ${images}`
    const faults = [...unlisted, ...compared.faults]
    const said = [counts, ...faults.slice(0, 4)].join("; ")
    return { isGood: faults.length === 0, said, faults, isOpened: !/^0\//.test(messages) || !/^0\//.test(calls) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function withoutRepeated(items: readonly Item[]): readonly Item[] {
  const seen = new Set<string>()
  return items.filter(({ role, id, text }) => {
    const result = JSON.stringify([id, text])
    if (role !== "result" || !seen.has(result)) return Boolean(seen.add(result))
    return false
  })
}

function isSaid({ role }: Item): boolean {
  return role === "user" || role === "assistant"
}

/** With the paths of the directory that it goes on in. */
function atHome({ project, cwd }: Case, items: readonly Item[]): readonly Item[] {
  if (project === undefined) return items
  return items.map((item) => (item.text === undefined ? item : { ...item, text: item.text.replaceAll(project, cwd) }))
}

function copied(asked: Case, scratch: string, name: string): string {
  const { client, home, session } = asked
  const to = join(scratch, name)
  cpSync(home, to, { recursive: true, preserveTimestamps: true })
  configured(client, to, session)
  const words = client.broughtBack?.(to, session)
  if (words !== undefined) asks(asked, scratch, to, words)
  return to
}

/** For the model that the session was last led by. */
export function configured(client: Client, home: string, session: string): void {
  const model = modelOf(client, home, session)
  const provider = providerOf(client, home, session)
  client.configure(home, { ...(model === undefined ? {} : { model }), ...(provider === undefined ? {} : { provider }) })
}

function asks({ client, place, cwd }: Case, scratch: string, home: string, words: readonly string[]): Ran {
  return run({ client, place, home, cwd, log: join(scratch, "requests.jsonl"), words })
}

function mentions(items: readonly Item[], word: string): boolean {
  return items.some(({ text }) => text?.includes(`:${word}]]`) === true)
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").slice(-300)
}

// --- Listed ------------------------------------------------------------------------------------------------------------

function listed(asked: Case, scratch: string): boolean {
  const { client, session } = asked
  if (client.hasNoList === true) return true
  const home = copied(asked, scratch, "list")
  const ask = (words: readonly string[]) => asks(asked, scratch, home, words)
  if (client.latest !== undefined) return isLatest(asked, home, client.latest, ask)
  return listIn(asked, ask).includes(session)
}

/** Does in a home what a session needs before it is opened, once for all that are in it: copies find it done. */
export function prepare(asked: Omit<Case, "session" | "wanted" | "isForeign">): void {
  const { client, home, place, cwd } = asked
  client.configure(home, {})
  const words = client.broughtBack?.(home, "")
  if (words === undefined) return
  const scratch = mkdtempSync(join(place.root, `work/${client.name}-`))
  run({ client, place, cwd, home, log: join(scratch, "requests.jsonl"), words })
  rmSync(scratch, { recursive: true, force: true })
}

/** All that a home lists, in one start of the client. Undefined, where it must be asked for each session alone. */
export function listOf(asked: Omit<Case, "session" | "wanted" | "isForeign">): string | undefined {
  const { client, place } = asked
  if (client.hasNoList === true || client.latest !== undefined) return undefined
  const scratch = mkdtempSync(join(place.root, `work/${client.name}-`))
  const all = { ...asked, session: "", wanted: [], isForeign: true }
  try {
    const home = copied(all, scratch, "list")
    return listIn(all, (words) => asks(all, scratch, home, words))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function listIn(asked: Case, ask: (words: readonly string[]) => Ran): string {
  const { client, place } = asked
  if (client.list !== undefined) {
    const { said, complaints } = ask(client.list())
    return `${said}\n${complaints}`
  }
  if (client.name === "codex") return threads(ask).join("\n")
  return ask([join(place.root, "bin/node"), "--input-type=module", "-e", LIST_PI, packageOf(asked)]).said
}

/** Without a command that lists: in a home with this session alone, the latest of the directory is this one. */
function isLatest(
  { client, session }: Case,
  home: string,
  latest: NonNullable<Client["latest"]>,
  ask: (words: readonly string[]) => Ran,
): boolean {
  for (const { id, file } of client.sessions(home)) if (id !== session) rmSync(file)
  const word = crypto.randomUUID().slice(0, 8)
  const { requests } = ask(latest(`[[check:${word}]] go on`))
  const sent = requests.findLast(({ items }) => mentions(items, word))?.items ?? []
  return sent.some(({ role }) => role === "assistant")
}

function threads(ask: (words: readonly string[]) => Ran): string[] {
  const sourceKinds = ["cli", "vscode", "exec", "appServer", "subAgent", "unknown"]
  const steps: Step[] = [{ ask: "thread/list", params: { limit: 100, modelProviders: [], sourceKinds } }]
  const { said } = ask([process.execPath, join(import.meta.dir, "drive.ts"), "codex", JSON.stringify(steps)])
  if (said === "") return []
  const { answer } = JSON.parse(said) as { answer?: { result?: { data?: readonly { id: string }[] } } }
  return (answer?.result?.data ?? []).map(({ id }) => id)
}

const LIST_PI = `
const { SessionManager } = await import(process.argv[1])
console.log((await SessionManager.list(process.cwd())).map(({ id }) => id).join("\\n"))
process.exit(0)`

function packageOf({ place, client }: Case): string {
  const [spec = ""] = client.packages
  const name = spec.slice(0, spec.lastIndexOf("@"))
  return `file://${place.root}/pkgs/${client.name}/node_modules/${name}/dist/index.js`
}
