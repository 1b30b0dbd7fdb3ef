/**
 * JSON read as text: numbers stay the digits that they are written with and every key of an object stays, also one that stands
 * there twice. Shares nothing with pond's own reader, because that is what it judges.
 */

/** Deeper texts are compared letter by letter. */
const DEPTH_MAX = 2_000

/** One spelling for each value: two texts of equal values have the same. Undefined where the text is no JSON. */
export function canonicalText(text: string): string | undefined {
  const reader = new Reader(text)
  try {
    const value = reader.value(0)
    return reader.isAtEnd() ? value : undefined
  } catch (error) {
    if (error instanceof NoJson) return undefined
    throw error
  }
}

class NoJson extends Error {}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SPACE = /[ \t\n\r]*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: they do not stand in a string as they are
const PLAIN = /[^"\\\u0000-\u001f]*/y
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    this.#match(SPACE)
    return this.#at === this.#text.length
  }

  value(depth: number): string {
    if (depth > DEPTH_MAX) throw new NoJson()
    this.#match(SPACE)
    const sign = this.#text[this.#at]
    if (sign === "{") return this.#object(depth)
    if (sign === "[") return this.#array(depth)
    if (sign === '"') return JSON.stringify(this.#string())
    for (const word of ["true", "false", "null"]) {
      if (!this.#text.startsWith(word, this.#at)) continue
      this.#at += word.length
      return word
    }
    return canonicalNumber(this.#match(NUMBER))
  }

  /** By key: its order says nothing in JSON. Of one key that stands there twice the order stays. */
  #object(depth: number): string {
    const members: { readonly key: string; readonly value: string }[] = []
    this.#list("}", () => {
      this.#match(SPACE)
      const key = this.#string()
      this.#expect(":")
      members.push({ key, value: this.value(depth + 1) })
    })
    const sorted = members.toSorted((left, right) => Number(left.key > right.key) - Number(left.key < right.key))
    return `{${sorted.map(({ key, value }) => `${JSON.stringify(key)}:${value}`).join(",")}}`
  }

  #array(depth: number): string {
    const items: string[] = []
    this.#list("]", () => items.push(this.value(depth + 1)))
    return `[${items.join(",")}]`
  }

  #list(end: string, item: () => void): void {
    this.#at++
    if (this.#isNext(end)) return
    for (;;) {
      item()
      if (this.#isNext(end)) return
      this.#expect(",")
    }
  }

  #string(): string {
    this.#expect('"')
    let text = ""
    for (;;) {
      text += this.#match(PLAIN)
      const sign = this.#text[this.#at++]
      if (sign === '"') return text
      if (sign !== "\\") throw new NoJson()
      const escaped = this.#text[this.#at++] ?? ""
      const hex = this.#text.slice(this.#at, this.#at + 4)
      if (escaped === "u" && /^[\da-fA-F]{4}$/.test(hex)) {
        text += String.fromCharCode(Number.parseInt(hex, 16))
        this.#at += 4
      } else if (escaped in ESCAPES) text += ESCAPES[escaped]
      else throw new NoJson()
    }
  }

  #isNext(sign: string): boolean {
    this.#match(SPACE)
    if (this.#text[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #expect(sign: string): void {
    if (!this.#isNext(sign)) throw new NoJson()
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [found] = pattern.exec(this.#text) ?? []
    if (found === undefined) throw new NoJson()
    this.#at += found.length
    return found
  }
}

/** `1`, `1.0` and `10e-1` are one number; `0` and `-0` are two. */
function canonicalNumber(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, "")
  const significant = digits.replace(/0+$/, "")
  if (significant === "") return `${sign}0`
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)
  return `${sign}${significant}e${power}`
}
