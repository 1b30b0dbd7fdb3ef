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
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y

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
    if (character === "`") {
      at = readTemplate(source, at + 1, found)
      continue
    }
    if (character === "{") depth += 1
    if (character === "}") depth -= 1
    if (depth < 0 && isInsertion) return at
    at += skippedLength(source, at) || readQuoted(source, at, found) || 1
  }
  return at
}

/** The length of a comment or a pattern; 0 where there is neither. */
function skippedLength(source: string, at: number): number {
  if (source[at] !== "/") return 0
  const isPattern = BEFORE_PATTERN.test(source.slice(Math.max(0, at - 40), at))
  return matchAt(COMMENT, source, at)?.[0].length ?? (isPattern ? matchAt(PATTERN, source, at)?.[0].length : 0) ?? 0
}

function readQuoted(source: string, at: number, found: StringLiteral[]): number {
  const quoted = matchAt(QUOTED, source, at)
  if (quoted === undefined) return 0
  found.push({ line: lineAt(source, at), text: quoted[1] ?? quoted[2] ?? "" })
  return quoted[0].length
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
