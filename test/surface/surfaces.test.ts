import { expect, test } from "bun:test"
import { VERBS } from "../../src/cli/registry.ts"
import { openApi, schemas } from "../../src/http/schemas.ts"
import { RESOURCES } from "../../src/mcp/resources.ts"
import { toolName } from "../../src/mcp/tool.ts"
import { TOOLS } from "../../src/mcp/tools.ts"
import type { Operation } from "../../src/operations/operation.ts"
import { LOCAL_OPERATIONS, OPERATIONS } from "../../src/operations/table.ts"

/** Where an operation of the wire is asked for by no agent or no verb of its own name: why. */
const NOT_ASKED: Readonly<Record<string, { readonly mcp?: string; readonly cli?: string }>> = {
  ingest: { mcp: "agents read", cli: "sync and import are how a machine takes sessions in" },
  export: { mcp: "it is for programs, and pond_get is for readers", cli: "the verb writes an export file" },
  restore_plan: { mcp: "where a session lies is no matter of an agent's", cli: "pond restore --dry-run" },
  files: { mcp: "every tool takes room in every session of an agent, and pond_get shows the calls" },
  blame: { mcp: "every tool takes room in every session of an agent, and pond_search finds the line" },
  recover: { mcp: "every tool takes room in every session of an agent" },
  render: { mcp: "agents read text", cli: "pond get -o FILE.html writes a whole page" },
  stats: { mcp: "every tool takes room in every session of an agent, and pond_sql counts" },
  label: { mcp: "what a person says about a session is that person's" },
  erase_sessions: { mcp: "an agent removes nothing", cli: "the verb can purge too: the operation erase" },
  recall: { mcp: "pond_search is for agents that ask", cli: "pond hook asks it for clients" },
  session_notes: { mcp: "pond_get reads the session", cli: "pond hook asks it for clients" },
  status: { cli: "the verb says more: the operation overview" },
}

function surfacesOf({ surfaces }: Operation) {
  return "http" in surfaces ? surfaces : { mcp: undefined, cli: surfaces.cli }
}

test("every operation of the wire is on every surface, or it is said why not", () => {
  const { paths } = openApi() as { paths: Record<string, object> }
  for (const operation of OPERATIONS) {
    const { name } = operation
    const { mcp, cli } = surfacesOf(operation)
    expect(Object.keys(paths)).toContain(`/v1/${name}`)
    expect([...schemas().keys()]).toEqual(expect.arrayContaining([`${name}_request`, `${name}_response`]))
    const why = NOT_ASKED[name]
    expect({ name, mcp: mcp === undefined, cli: cli === undefined }).toEqual({
      name,
      mcp: why?.mcp !== undefined,
      cli: why?.cli !== undefined,
    })
    if (mcp !== undefined) expect([...TOOLS.map(toolName), ...RESOURCES.map(({ uri }) => uri)]).toContain(mcp)
  }
})

test("every verb that prints a document has an operation, and no two operations have one name", () => {
  const all = [...OPERATIONS, ...LOCAL_OPERATIONS]
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
  const verbs = VERBS.map(({ name }) => name)
  const asked = all.flatMap((operation) => surfacesOf(operation).cli ?? [])
  expect(asked.filter((verb) => !verbs.includes(verb))).toEqual([])
  // They print a text or speak a protocol, and ask pond for nothing. Browsing is several operations on one screen.
  const without = ["browse", "completions", "help", "hook", "man", "mcp", "open", "serve", "skill"]
  expect(verbs.filter((verb) => !asked.includes(verb) && !without.includes(verb))).toEqual([])
})

test("nothing local is on the wire", () => {
  const { paths } = openApi() as { paths: Record<string, object> }
  expect(LOCAL_OPERATIONS.length).toBeGreaterThan(20)
  for (const { name, surfaces } of LOCAL_OPERATIONS) {
    expect(surfaces).toMatchObject({ local: true })
    expect(Object.keys(paths)).not.toContain(`/v1/${name}`)
    expect([...schemas().keys()]).toContain(`${name}_document`)
  }
})

test("every field that may be asked for says what it is", () => {
  for (const { name, summary, input } of [...OPERATIONS, ...LOCAL_OPERATIONS]) {
    expect(summary).toMatch(/^[A-Z].*\.$/)
    const { properties } = input as unknown as { properties: Record<string, { description?: string; type?: string }> }
    const silent = Object.entries(properties).filter(([, field]) => !(field.description ?? "").endsWith("."))
    // A field that is an object says it of each of its own.
    expect({ name, silent: silent.map(([key]) => key).filter((key) => key !== "filters") }).toEqual({
      name,
      silent: [],
    })
  }
})

test("a tool takes what its operation takes, with its types and bounds", () => {
  const search = TOOLS.find((tool) => toolName(tool) === "pond_search")
  const { properties = {} } = { ...search?.input } as { readonly properties?: Record<string, object> }
  expect(properties["limit"]).toMatchObject({ type: "integer", minimum: 1, maximum: 200, default: 5 })
  expect(properties["project"]).toMatchObject({ type: "string", minLength: 1 })
})

/** Flags and words that set no field of their operation's input: what they do instead. */
const OWN_ARGUMENTS: Readonly<Record<string, string>> = {
  "search QUERY": "its words are one text",
  "search --here": "sets the project filter",
  "search --more": "the input of the last search, with its cursor",
  "list --here": "sets the project filter",
  "list --more": "the input of the last list, with its cursor",
  "get ID": "an id of either of two fields",
  "get --format": "Markdown is written from pages of the operation",
  "get --output": "where the answer is written",
  "get --redact": "of Markdown",
  "get --include-subagents": "of Markdown",
  "get --project": "chooses sessions that become pages",
  "get --force": "whether a file is overwritten",
  "sql --output": "where the answer is written",
  "sql --force": "whether a file is overwritten",
  "blame FILE": "a path and a line, and the text that is read there",
  "recover --list": "which part of the answer is shown",
  "recover --output": "where the answer is written",
  "recover --force": "whether a file is overwritten",
  "stats --limit": "rows shown of the answer",
  "stats --cost": "asks the operation `cost` instead",
  "cost --here": "a project filter",
  "secrets --limit": "rows shown of the answer",
  "sync --watch": "asks for another operation",
  "capture COMMAND": "the command to run before",
  "capture --report": "where the answer is written",
  "resume SESSION": "chooses a session from a list",
  "resume --yes": "answers the question before a session from elsewhere",
  "resume --last": "chooses a session from a list",
  "resume --here": "filters the list to choose from",
}

/** Fields of an input that no flag and no word sets: why. */
const UNASKED_FIELDS: Readonly<Record<string, string>> = {
  "search query": "the words",
  "search queries": "for agents, which know other wordings; a person types one",
  "search near": "the directory that pond is started in",
  "search for_reading": "set unless a program reads the answer",
  "search text_budget": "what a model can read; a screen is longer",
  "get session_id": "the id",
  "get message_id": "the id",
  "sessions facets": "for a page that offers them to choose from",
  "blame path": "the file",
  "blame content": "the text of the file",
  "blame line": "FILE:LINE",
  "watch only": "a watch that leaves out a stage is a sync on a schedule",
  "watch skip": "as only",
  "watch full": "once is enough: pond sync --full",
  "watch no_wait": "it waits for as long as it runs",
  "erase filters.include_subagents": "sub-agents go with their session",
  "share filters.include_subagents": "sub-agents are on the page of their session",
  "recent limit": "the screen to choose from is as long as the list",
  "recent id_prefix": "completions ask for it",
}

/** As `filters.project`, for fields of an object in the input. */
function fieldsOf(input: unknown, set: readonly (string | undefined)[], prefix = ""): string[] {
  const { properties = {} } = input as { readonly properties?: Record<string, object> }
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    return "properties" in field && !set.includes(path) ? fieldsOf(field, set, `${path}.`) : [path]
  })
}

test("flags and words of a verb derive from the input of its operation, or it is said why not", async () => {
  const own: string[] = []
  const unasked: string[] = []
  for (const operation of [...OPERATIONS, ...LOCAL_OPERATIONS]) {
    const row = VERBS.find(({ name }) => name === surfacesOf(operation).cli)
    if (row === undefined) continue
    const { flags, positionals } = await row.load()
    const named = Object.entries(flags).map(([name, { field }]) => ({ name: `--${name}`, field }))
    const all = [...named, ...positionals.map(({ name, field }) => ({ name: name.toUpperCase(), field }))]
    const set = all.map(({ field }) => field)
    own.push(...all.filter(({ field }) => field === undefined).map(({ name }) => `${row.name} ${name}`))
    const fields = fieldsOf(operation.input, set).filter((field) => !set.includes(field))
    unasked.push(...fields.map((field) => `${operation.name} ${field}`))
  }
  expect(new Set(own)).toEqual(new Set(Object.keys(OWN_ARGUMENTS)))
  expect(new Set(unasked)).toEqual(new Set(Object.keys(UNASKED_FIELDS)))
})
