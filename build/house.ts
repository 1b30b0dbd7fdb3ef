/**
 * `bun run house [DIR]`: the measures of the house. Lines and files of each layer, comments, functions by length, exports
 * and files with a single importer, and names that several files use. With `DIR`, another checkout of pond, its measures
 * stand beside those of this one.
 */
import { resolve } from "node:path"
import { commentLines, exportsOf, functionsOf, importsOf, readSources, type SourceFile } from "./house/sources.ts"
import { ROOT } from "./release/packages.ts"
import { orFailure } from "./release/targets.ts"

/** What is measured, in the order in which it is shown. */
type Measures = ReadonlyMap<string, number | string>

const SMALL_LINES = 60
const LONG_NAMES_MIN = 4

function measure(root: string): Measures {
  const files = readSources(root)
  return new Map([
    ...sizes(files),
    ...ofLayers(files),
    ...functionMeasures(files),
    ...importMeasures(files),
    ...nameMeasures(files),
    ...testMeasures(root),
  ])
}

function sizes(files: readonly SourceFile[]): [string, number | string][] {
  const lines = files.map((file) => file.lines)
  const comments = files.reduce((sum, file) => sum + commentLines(file), 0)
  return [
    ["files", files.length],
    ["lines", total(lines)],
    ["lines of a file: median", quantile(lines, 0.5)],
    ["lines of a file: 9 of 10 have at most", quantile(lines, 0.9)],
    ["lines of a file: longest", quantile(lines, 1)],
    ["comment lines, of 100", ((100 * comments) / total(lines)).toFixed(1)],
  ]
}

function ofLayers(files: readonly SourceFile[]): [string, string][] {
  const layers = [...Map.groupBy(files, ({ layer }) => layer)]
  return layers
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([layer, own]) => {
      const lines = total(own.map((file) => file.lines))
      return [`  ${layer}: lines (files)`, `${lines} (${own.length})`]
    })
}

function functionMeasures(files: readonly SourceFile[]): [string, number][] {
  const lengths = files.flatMap(functionsOf).map(({ lines }) => lines)
  return [
    ["functions with a name", lengths.length],
    ["lines of a function: median", quantile(lengths, 0.5)],
    ["lines of a function: 9 of 10 have at most", quantile(lengths, 0.9)],
    ["lines of a function: 99 of 100 have at most", quantile(lengths, 0.99)],
    ["lines of a function: longest", quantile(lengths, 1)],
    ["functions over 40 lines", lengths.filter((length) => length > 40).length],
    ["functions over 60 lines", lengths.filter((length) => length > 60).length],
  ]
}

function importMeasures(files: readonly SourceFile[]): [string, number][] {
  const importers = new Map<string, Set<string>>()
  const note = (key: string, path: string) => importers.set(key, (importers.get(key) ?? new Set()).add(path))
  for (const file of files) {
    for (const { path, names } of importsOf(file)) {
      note(path, file.path)
      for (const name of names) note(`${path} ${name}`, file.path)
    }
  }
  const countOf = (key: string) => importers.get(key)?.size ?? 0
  const single = files.filter(({ path }) => countOf(path) === 1)
  const exported = files.flatMap((file) => exportsOf(file).map((name) => `${file.path} ${name}`))
  return [
    ["exports", exported.length],
    ["exports with one importing file", exported.filter((key) => countOf(key) === 1).length],
    ["files with one importing file", single.length],
    [
      `files with one importing file and under ${SMALL_LINES} lines`,
      single.filter(({ lines }) => lines < SMALL_LINES).length,
    ],
  ]
}

function nameMeasures(files: readonly SourceFile[]): [string, number][] {
  const functions = files.flatMap(functionsOf).filter(({ isTopLevel }) => isTopLevel)
  const paths = [...Map.groupBy(functions, ({ name }) => name).values()].map(
    (own) => new Set(own.map(({ path }) => path)).size,
  )
  return [
    ["names that functions of several files have", paths.filter((count) => count > 1).length],
    [
      `names that functions of ${LONG_NAMES_MIN} files or more have`,
      paths.filter((count) => count >= LONG_NAMES_MIN).length,
    ],
  ]
}

function testMeasures(root: string): [string, number][] {
  const tests = readSources(root, "test")
  return [
    ["lines of tests", total(tests.map(({ lines }) => lines))],
    ["lines of build", total(readSources(root, "build").map(({ lines }) => lines))],
  ]
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}

function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

async function main(): Promise<number> {
  const [other] = Bun.argv.slice(2)
  const here = measure(ROOT)
  const beside = other === undefined ? undefined : measure(resolve(other))
  const names = [...new Set([...here.keys(), ...(beside?.keys() ?? [])])]
  const width = Math.max(...names.map((name) => name.length))
  const cell = (measures: Measures, name: string) => String(measures.get(name) ?? "-").padStart(14)
  if (beside !== undefined) console.log(`${"".padEnd(width)}${"there".padStart(14)}${"here".padStart(14)}`)
  for (const name of names) {
    const there = beside === undefined ? "" : cell(beside, name)
    console.log(`${name.padEnd(width)}${there}${cell(here, name)}`)
  }
  return 0
}

if (import.meta.main) process.exitCode = await orFailure("house", main)
