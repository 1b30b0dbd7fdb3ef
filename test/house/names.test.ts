import { expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { functionsOf, readSources } from "../../build/house/sources.ts"

/** Names and words: a reader finds a thing by searching for what the field calls it, and finds one thing. */
const ROOT = join(import.meta.dir, "../..")
const files = readSources(ROOT)

// --- Files -----------------------------------------------------------------------------------------------------------

/** Names of files that only their author would search for, and what the field says. */
const FILE_NAMES: Readonly<Record<string, string>> = {
  arrive: "batch inserter",
  "few-passing": "selective filter",
  desk: "what it really is",
  elsewhere: "remote",
  held: "matching",
  "kept-rows": "row cache",
  "kept-texts": "text cache",
  "key-marks": "fingerprint set",
  "key-set": "fingerprint set",
  "known-rows": "presence",
  lately: "LRU cache",
  "lately-kept": "LRU cache",
  likeness: "fuzzy matching",
  lists: "postings",
  live: "say what lives",
  narrowed: "narrow",
  "own-rows": "presence",
  paper: "output",
  sent: "say what is sent",
  standstill: "freshness",
  starts: "say what starts",
  "stored-before": "presence",
  told: "transcript items",
  ways: "options",
}

test("files are called what the field calls what is in them", () => {
  const wrong = files.map(({ path }) => ({ path, instead: FILE_NAMES[basename(path, ".ts")] }))
  expect(wrong.filter(({ instead }) => instead !== undefined)).toEqual([])
})

test("two files of one layer have one name only where they have one role: a file of a client's folder", () => {
  const others = files.filter(({ path }) => !/^src\/adapters\/(?!shared\/)[^/]+\//.test(path))
  const named = Map.groupBy(others, ({ layer, path }) => `${layer} ${basename(path)}`)
  const double = [...named.values()].filter((own) => own.length > 1)
  expect(double.map((own) => own.map(({ path }) => path))).toEqual([])
})

// --- Functions -------------------------------------------------------------------------------------------------------

const FILES_MAX = 3

test("no function name stands for different things in more than three files", () => {
  // The faces of an adapter have the names of its contract, in the file of that role in every client's folder.
  const roomOf = (path: string) => path.replace(/^src\/adapters\/(?!shared\/)[^/]+\//, "src/adapters/*/")
  const functions = files.flatMap(functionsOf).filter(({ isTopLevel }) => isTopLevel)
  const rooms = [...Map.groupBy(functions, ({ name }) => name)].map(([name, own]) => ({
    name,
    paths: [...new Set(own.map(({ path }) => path))],
    rooms: new Set(own.map(({ path }) => roomOf(path))).size,
  }))
  const many = rooms.filter((each) => each.rooms > FILES_MAX)
  expect(many.map(({ name, paths }) => `${name}: ${paths.join(" ")}`)).toEqual([])
})

// --- Sentences -------------------------------------------------------------------------------------------------------

/** Turns of phrase in comments that a reader has to solve. */
const RIDDLES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bWhat (?:of|becomes of|became of)\b/, "name the thing"],
  [/\bas if (?:he|she|it) had\b/, "say what is so"],
  [/\bWho(?:ever)? (?:cannot|asks|fills|brings|goes|waits|reads|writes|is|finds|works)\b/, "name the caller"],
  [/\b(?:he|his|him)\b/, "name the program or the caller"],
  [/\bof pond's own\b/, '"that pond adds", "that pond makes"'],
  [/\ban? (?:[a-z]+ )?[a-z]+ of its own\b/, '"its own …", "a separate …"'],
  [/\bof (?:its|their) own(?:[.,:;)]|$)/, '"its own …", "separate …"'],
  [/\b(?:is|are) there already\b/, '"already exists", "is stored"'],
  [/\bby itself alone\b|\bwho(?:ever)? comes (?:first|so far)\b/i, "say what happens"],
]

test("comments state what is so, without riddles", () => {
  const comments = files.flatMap(({ text }) => text.split("\n").filter((line) => /^\s*(?:\/\/|\/\*|\*)/.test(line)))
  for (const [phrase, instead] of RIDDLES)
    expect(
      comments.filter((line) => phrase.test(line)),
      `${phrase}: ${instead}`,
    ).toEqual([])
})

// --- Documents -------------------------------------------------------------------------------------------------------

const COLUMNS_MAX = 120

test("a README fits into 120 columns", () => {
  const nested = ["src", "test"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  )
  for (const path of ["README.md", ...nested.filter((name) => name.endsWith("/README.md"))]) {
    // What is typed and what is answered stand in blocks, as they are on a terminal.
    const prose = readFileSync(join(ROOT, path), "utf8").replaceAll(/^```[\s\S]*?^```/gm, "")
    expect(
      prose.split("\n").filter((line) => line.length > COLUMNS_MAX),
      path,
    ).toEqual([])
  }
})

test("every file that a section of src/README.md names lies in that layer", () => {
  const map = readFileSync(join(ROOT, "src/README.md"), "utf8")
  const gone: string[] = []
  for (const section of map.split(/^### /m).slice(1)) {
    const layer = section.slice(0, section.indexOf("\n"))
    if (!existsSync(join(ROOT, "src", layer))) continue
    const own = readdirSync(join(ROOT, "src", layer), { recursive: true, encoding: "utf8" })
    const [text = ""] = section.split(/^## /m)
    for (const [, name = ""] of text.matchAll(/`([\w./-]+\.(?:ts|md))`/g)) {
      const isThere = own.some((path) => path === name || path.endsWith(`/${name}`))
      if (!isThere) gone.push(`${layer} ${name}`)
    }
  }
  expect(gone).toEqual([])
})

test("every link of a document leads to a file that is there", () => {
  const documents = [".github/CONTRIBUTING.md", ".github/SECURITY.md", "README.md", "src/README.md", "src/RULES.md"]
  const broken: string[] = []
  for (const document of documents) {
    const text = readFileSync(join(ROOT, document), "utf8")
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)) {
      if (!existsSync(join(ROOT, document, "..", target))) broken.push(`${document}: ${target}`)
    }
  }
  expect(broken).toEqual([])
})
