/** The string literals of a source text, with the line where each ends. A small scanner, because no parser is at hand. */

export interface StringLiteral {
  readonly line: number
  /** As written, with `…` for what a template inserts. */
  readonly text: string
}

/** What may stand before a slash that begins a pattern rather than divides. */
const BEFORE_PATTERN = /(?:^|[=(,:[!&|?{};<>+]|=>|\breturn)\s*$/

const PATTERN = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y
const QUOTED = /"((?:\\.|[^"\\\n])*)"|'((?:\\.|[^'\\\n])*)'/y
const COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//y

export function stringLiterals(source: string): StringLiteral[] {
  const found: StringLiteral[] = []
  readCode(source, 0, false, found)
  return found
}

/** Reads code up to the end, or up to the brace that closes an insertion; returns where it stopped. */
function readCode(source: string, start: number, isInsertion: boolean, found: StringLiteral[]): number {
  let at = start
  let depth = 0
  while (at < source.length) {
    const character = source[at]
    if (character === "}" && isInsertion && depth === 0) return at
    if (character === "{") depth += 1
    if (character === "}") depth -= 1
    const comment = matchAt(COMMENT, source, at)
    const isPattern = character === "/" && BEFORE_PATTERN.test(source.slice(Math.max(0, at - 40), at))
    const skipped = comment ?? (isPattern ? matchAt(PATTERN, source, at) : undefined)
    const quoted = skipped === undefined ? matchAt(QUOTED, source, at) : undefined
    if (quoted !== undefined) found.push({ line: lineAt(source, at), text: quoted[1] ?? quoted[2] ?? "" })
    if (character === "`" && skipped === undefined) at = readTemplate(source, at + 1, found)
    else at += skipped?.[0].length ?? quoted?.[0].length ?? 1
  }
  return at
}

function readTemplate(source: string, start: number, found: StringLiteral[]): number {
  let text = ""
  let at = start
  while (at < source.length && source[at] !== "`") {
    if (source.startsWith("${", at)) {
      at = readCode(source, at + 2, true, found) + 1
      text += "…"
      continue
    }
    const length = source[at] === "\\" ? 2 : 1
    text += source.slice(at, at + length)
    at += length
  }
  found.push({ line: lineAt(source, at), text })
  return at + 1
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(source) ?? undefined
}

function lineAt(source: string, at: number): number {
  return source.slice(0, at).split("\n").length
}
