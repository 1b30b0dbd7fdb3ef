/**
 * Where in a text credentials stand. Searched is a copy of it without colours and with escapes of JSON blanked out: in
 * `\u001b[32mghp_…` and `"found\nghp_…"` a token begins in the middle of a word otherwise, and was not seen.
 */
import { type CredentialForm, TOKEN_FORMS } from "./credential-forms.ts"
import { PLACE_FORMS } from "./credential-places.ts"

export interface Credential {
  readonly kind: string
  /** Of the text, in code units. */
  readonly from: number
  readonly to: number
}

const FORMS: readonly CredentialForm[] = [...TOKEN_FORMS, ...PLACE_FORMS]

/** In their order and without overlap: what two forms find is of the kind of the first. `values` are known as they are. */
export function findCredentials(text: string, values?: CredentialForm): Credential[] {
  const found: Credential[] = []
  const isNew = overlapCheck(text.length)
  const add = (credential: Credential) => void (isNew(credential) && found.push(credential))
  if (values !== undefined) {
    for (const { 0: value, index } of text.matchAll(values.pattern))
      add({ kind: values.kind, from: index, to: index + value.length })
  }
  const { searched, origin } = searchable(text)
  for (const form of FORMS) {
    if (form.marks?.every((mark) => !searched.includes(mark)) === true) continue
    for (const match of searched.matchAll(form.pattern)) {
      const secret = match.groups?.["secret"] ?? match[0]
      if (form.isSecret?.(secret) === false) continue
      const from = match.index + match[0].lastIndexOf(secret)
      add({ kind: form.kind, from: origin(from), to: origin(from + secret.length - 1) + 1 })
    }
  }
  return found.sort((left, right) => left.from - right.from)
}

/** A byte for each code unit, once there is something to find: a list of ranges would be searched again for each new one. */
function overlapCheck(length: number): (range: Credential) => boolean {
  let taken: Uint8Array | undefined
  return ({ from, to }) => {
    taken ??= new Uint8Array(length)
    if (taken.subarray(from, to).includes(1)) return false
    taken.fill(1, from, to)
    return true
  }
}

/** Colours and what else a terminal is told, as it is, in JSON, and as `visible` shows it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const TERMINAL = /(?:\u001b|\u241b|\\+u001[bB]|\\+x1[bB]|\\+033|\\+e)\[[\d;]*[A-Za-z]/g
const LINE_ESCAPE = /\\+[nrt]/g

interface Searchable {
  readonly searched: string
  /** Where a code unit of it stands in the text. */
  readonly origin: (at: number) => number
}

function searchable(text: string): Searchable {
  const blanked = (part: string) =>
    part.includes("\\") ? part.replace(LINE_ESCAPE, (blank) => " ".repeat(blank.length)) : part
  const cuts = text.includes("[") ? [...text.matchAll(TERMINAL)] : []
  if (cuts.length === 0) return { searched: blanked(text), origin: (at) => at }
  /** Where each piece begins in what is searched, and how much was cut before it. */
  const starts: number[] = [0]
  const shifts: number[] = [0]
  let [searched, end] = ["", 0]
  for (const cut of cuts) {
    searched += text.slice(end, cut.index)
    end = cut.index + cut[0].length
    starts.push(searched.length)
    shifts.push(end - searched.length)
  }
  searched += text.slice(end)
  return { searched: blanked(searched), origin: (at) => at + (shifts[lastNotAbove(starts, at)] ?? 0) }
}

/** By binary search: a coloured listing has a hundred thousand pieces. */
function lastNotAbove(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((sorted[middle] ?? 0) <= value) low = middle
    else high = middle - 1
  }
  return low
}
