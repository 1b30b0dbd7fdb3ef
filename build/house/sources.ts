/**
 * What can be measured of source files by their text alone: imports, exports, functions, comments. Regular expressions and
 * a count of braces, because a parser would take longer than all tests of the house together; good enough to compare two
 * states of one tree.
 */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

export interface SourceFile {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
  /** `model`, `platform`, …; `src` for files that belong to none. */
  readonly layer: string
  readonly lines: number
}

export interface SourceFunction {
  readonly name: string
  readonly path: string
  readonly lines: number
  /** Whether it is declared by the file itself, and not inside of another function. */
  readonly isTopLevel: boolean
}

export function readSources(root: string, folder = "src"): SourceFile[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
  return names
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".gen.ts"))
    .toSorted()
    .map((name) => {
      const text = readFileSync(join(root, folder, name), "utf8")
      const layer = name.includes("/") ? (name.split("/")[0] ?? folder) : folder
      return { path: `${folder}/${name}`, text, layer, lines: text.split("\n").length - 1 }
    })
}

/** The functions that have a name: declarations, and constants that are arrow functions with a body. */
export function functionsOf({ path, text }: SourceFile): SourceFunction[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, " "))
  const found: SourceFunction[] = []
  const declaration =
    /^([ \t]*)(?:export )?(?:async )?function\*? (\w+)|^([ \t]*)(?:export )?const (\w+) = (?:async )?\(/gm
  for (const match of code.matchAll(declaration)) {
    const [, indent = match[3] ?? "", name = match[4] ?? ""] = match
    const body = bodyAt(code, match.index, match[4] !== undefined)
    if (body === undefined) continue
    found.push({ name, path, lines: code.slice(match.index, body).split("\n").length, isTopLevel: indent === "" })
  }
  return found
}

/** Where the function that begins here ends; nothing where it has no body in braces. */
function bodyAt(code: string, from: number, isArrow: boolean): number | undefined {
  const afterParameters = closing(code, code.indexOf("(", from), "(", ")")
  if (afterParameters === undefined) return undefined
  const rest = code.slice(afterParameters)
  const start = (isArrow ? /^[^;\n]*?=> \{/ : /^(?:[^{]|\{(?=[^\n]*\}))*?\{\n/).exec(rest)
  if (start === null) return undefined
  return closing(code, afterParameters + start[0].lastIndexOf("{"), "{", "}")
}

function closing(code: string, from: number, open: string, close: string): number | undefined {
  let depth = 0
  for (let at = from; at < code.length && at >= 0; at++) {
    if (code[at] === open) depth++
    if (code[at] === close && --depth === 0) return at + 1
  }
  return undefined
}

export function commentLines({ text }: SourceFile): number {
  return text.split("\n").filter((line) => /^\s*(?:\/\/|\/\*|\*)/.test(line)).length
}

export interface Import {
  /** From the root of the repository. */
  readonly path: string
  readonly names: readonly string[]
}

/** Imports of files of the same tree. */
export function importsOf({ path, text }: SourceFile): Import[] {
  const found: Import[] = []
  for (const [, clause = "", specifier = ""] of text.matchAll(
    /(?:^|\n)(?:import|export) ([^"'\n;]*(?:\{[^}]*\})?[^"'\n;]*?)from "(\.[^"]+)"/g,
  )) {
    const named = /\{([^}]*)\}/.exec(clause)?.[1] ?? ""
    const names = named.split(",").map(
      (each) =>
        each
          .trim()
          .replace(/^type /, "")
          .split(" as ")[0] ?? "",
    )
    found.push({ path: normalize(join(dirname(path), specifier)), names: names.filter((name) => name !== "") })
  }
  for (const [, specifier = ""] of text.matchAll(/\b(?:import|require)\("(\.[^"]+)"\)/g)) {
    found.push({ path: normalize(join(dirname(path), specifier)), names: [] })
  }
  return found
}

export function exportsOf({ text }: SourceFile): string[] {
  const declared = text.matchAll(
    /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm,
  )
  return [...new Set([...declared].map(([, name = ""]) => name))]
}
