/**
 * Does a request carry the conversation that it should? Messages and calls in order, each call paired with a result of the
 * same text, nothing twice, nothing without its other half, and every picture.
 */
import type { Item } from "./model/request.ts"

export interface Comparison {
  readonly isSame: boolean
  readonly messages: string
  readonly calls: string
  readonly images: string
  readonly faults: readonly string[]
}

export interface Tolerance {
  /** Another client has other ids and other tools: a call is the same where it was given the same. */
  readonly isForeign: boolean
}

export function compare(told: readonly Item[], got: readonly Item[], { isForeign }: Tolerance): Comparison {
  const wanted = told.map((item) => asSent(item, got))
  const { faults, ids, messagesFound } = inOrder(wanted, got, isForeign)
  const { pairs, calls, faults: unanswered } = answered(wanted, got, ids, isForeign)
  faults.push(...unanswered)
  faults.push(
    ...unpaired(got),
    ...doubled(wanted, got),
    ...(isForeign ? [] : unasked(wanted, got, new Set(ids.values()))),
  )
  const [imagesWanted, imagesGot] = [wanted, got].map((items) => items.reduce((sum, { images = 0 }) => sum + images, 0))
  if ((imagesGot ?? 0) < (imagesWanted ?? 0)) faults.push("a picture is missing")
  const messages = wanted.filter(({ role }) => role === "user" || role === "assistant").length
  return {
    isSame: faults.length === 0,
    messages: `${messagesFound}/${messages}`,
    calls: `${pairs}/${calls}`,
    images: `${imagesGot}/${imagesWanted}`,
    faults,
  }
}

/** How many of the calls came with the result that they had. */
function answered(
  wanted: readonly Item[],
  got: readonly Item[],
  ids: ReadonlyMap<string, string>,
  isForeign: boolean,
): { readonly pairs: number; readonly calls: number; readonly faults: readonly string[] } {
  const calls = wanted.filter(({ role }) => role === "call")
  const results = new Map(got.filter(({ role }) => role === "result").map((item) => [item.id ?? "", item]))
  const wantedResults = new Map(wanted.filter(({ role }) => role === "result").map((item) => [item.id ?? "", item]))
  const hosted = new Set(got.flatMap((item) => (item.isHosted === true ? [item.id] : [])))
  const faults: string[] = []
  let pairs = 0
  for (const { id = "", name = "" } of calls) {
    const want = wantedResults.get(id)
    const have = results.get(ids.get(id) ?? "")
    if (!ids.has(id)) continue
    if (want === undefined && hosted.has(ids.get(id))) pairs++
    else if (have === undefined) faults.push(`no result of ${name}`)
    else if (want !== undefined && !isSameResult(want.text ?? "", have.text ?? "", isForeign))
      faults.push(`another result of ${name}: ${excerpt(want.text)} became ${excerpt(have.text)}`)
    else pairs++
  }
  return { pairs, calls: calls.length, faults }
}

/** Half of a character cannot be sent: clients put U+FFFD in its place, and pi nothing. */
function asSent(item: Item, got: readonly Item[]): Item {
  const { role, text = "" } = item
  if (text.isWellFormed()) return item
  const whole = [text.toWellFormed(), text.replaceAll(/\p{Surrogate}/gu, "")]
  const isSent = (one: string) => got.some((have) => have.role === role && plain(have.text).includes(plain(one)))
  return { ...item, text: whole.find(isSent) ?? text }
}

interface Found {
  readonly faults: string[]
  /** The id of each wanted call in the request. */
  readonly ids: ReadonlyMap<string, string>
  readonly messagesFound: number
}

function inOrder(wanted: readonly Item[], got: readonly Item[], isForeign: boolean): Found {
  const faults: string[] = []
  const ids = new Map<string, string>()
  const used = new Set<string>()
  let from = 0
  let messagesFound = 0
  for (const want of wanted) {
    if (want.role === "result" || want.role === "reasoning") continue
    const at = got.findIndex((item, index) => index >= from && isFound(want, item, { isForeign, used }))
    const have = got[at]
    if (have === undefined) {
      faults.push(`missing, or not in order: ${want.role} ${excerpt(want.text ?? want.name)}`)
    } else if (want.role === "call") {
      ids.set(want.id ?? "", have.id ?? "")
      used.add(have.id ?? "")
      from = at + 1
    } else {
      messagesFound++
      // One message of a request may hold several of the session.
      from = plain(have.text) === plain(want.text) ? at + 1 : at
    }
  }
  return { faults, ids, messagesFound }
}

function isFound(
  want: Item,
  have: Item,
  { isForeign, used }: Tolerance & { readonly used: ReadonlySet<string> },
): boolean {
  if (have.role !== want.role) return false
  if (want.role === "call") {
    if (used.has(have.id ?? "")) return false
    return isSameId(want.id, have.id) || (isForeign && isSameGiven(want.args ?? "", have.args ?? ""))
  }
  const text = plain(want.text)
  return text === "" ? have.images !== undefined : plain(have.text).includes(text)
}

/** pi writes two ids in one, and a client that resumes over another API rewrites what that one does not allow in an id. */
function isSameId(left = "", right = ""): boolean {
  const [ours, theirs] = [left, right].map((id) => id.split("|")[0]?.replace(/[^A-Za-z0-9]/g, "") ?? "")
  return ours === theirs && ours !== ""
}

/** Some long string that both were given: tools differ in how they wrap it. */
function isSameGiven(left: string, right: string): boolean {
  const [ours, theirs] = [stringsIn(left), stringsIn(right)]
  return ours.some((one) => theirs.some((other) => one === other || isWithin(one, other) || isWithin(other, one)))
}

function isWithin(inner: string, outer: string): boolean {
  return inner.length > 7 && outer.includes(inner)
}

function stringsIn(args: string): string[] {
  const found: string[] = []
  const walk = (value: unknown): void => {
    if (typeof value === "string") found.push(value)
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(walk)
  }
  try {
    walk(JSON.parse(args))
  } catch {
    found.push(args)
  }
  return found.filter((text) => text.length > 3)
}

/** A client of another brand may say more of a result than its text, never less. */
function isSameResult(want: string, have: string, isForeign: boolean): boolean {
  const [ours, theirs] = [plain(want), plain(have)]
  if (ours === theirs) return true
  return isForeign && ours !== "" && theirs.includes(ours)
}

function unpaired(got: readonly Item[]): string[] {
  const paired = got.filter(({ isHosted }) => isHosted !== true)
  const of = (wantedRole: Item["role"]) => paired.filter(({ role }) => role === wantedRole).map(({ id = "" }) => id)
  const [calls, results] = [of("call"), of("result")]
  const faults = [
    ...calls.filter((id) => !results.includes(id)).map((id) => `a call without a result: ${id}`),
    ...results.filter((id) => !calls.includes(id)).map((id) => `a result without a call: ${id}`),
  ]
  if (new Set(calls).size < calls.length) faults.push("two calls of one id")
  if (new Set(results).size < results.length) faults.push("two results of one call")
  return faults
}

/** Some clients write a text into more than one record: it must not be in more messages. A summary may repeat itself inside one. */
function doubled(wanted: readonly Item[], got: readonly Item[]): string[] {
  const texts = (items: readonly Item[]) => items.flatMap(({ role, text }) => (isSpeech(role) ? [plain(text)] : []))
  const [ours, theirs] = [texts(wanted), texts(got)]
  const often = (all: readonly string[], text: string) => all.filter((each) => each.includes(text)).length
  return [...new Set(ours)]
    .filter((text) => text.length >= TOLD_APART && often(theirs, text) > often(ours, text))
    .map((text) => `said twice: ${excerpt(text)}`)
}

/** Shorter texts may stand inside others by chance. */
const TOLD_APART = 12

function isSpeech(role: Item["role"]): boolean {
  return role === "user" || role === "assistant"
}

function unasked(wanted: readonly Item[], got: readonly Item[], calls: ReadonlySet<string>): string[] {
  const texts = wanted.map(({ text }) => plain(text)).filter((text) => text !== "")
  return got.flatMap(({ role, text, id = "", name = "" }) => {
    if (role === "call") return calls.has(id) ? [] : [`a call that nobody made: ${name}`]
    const said = plain(text)
    if (role !== "assistant" || said === "" || texts.some((each) => each.includes(said) || said.includes(each)))
      return []
    return [`nobody said: ${excerpt(text)}`]
  })
}

/** White space at the ends of lines is each client's own. */
function plain(text = ""): string {
  return text
    .replaceAll("\r", "")
    .replace(/[ \t]+$/gm, "")
    .trim()
}

function excerpt(text = ""): string {
  return JSON.stringify(text.slice(0, 60))
}
