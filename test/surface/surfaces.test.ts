import { expect, test } from "bun:test"
import { VERBS } from "../../src/cli/registry.ts"
import { openApi, schemas } from "../../src/http/schemas.ts"
import { RESOURCES } from "../../src/mcp/resources.ts"
import { TOOLS } from "../../src/mcp/tools.ts"
import { OPERATIONS } from "../../src/operations/table.ts"

/** Where each operation is asked for besides HTTP; where it is not, why. An operation without a line here is not whole. */
const ASKED: Readonly<Record<string, { readonly mcp: string; readonly cli: string }>> = {
  search: { mcp: "tool pond_search", cli: "search" },
  get: { mcp: "tool pond_get", cli: "get" },
  sql: { mcp: "tool pond_sql_query", cli: "sql" },
  ingest: { mcp: "none: agents read", cli: "none: sync and import are how a machine takes sessions in" },
  export: { mcp: "none: it is for programs, and pond_get is for readers", cli: "export" },
  restore_plan: { mcp: "none: where a session lies is no matter of an agent's", cli: "restore" },
  status: { mcp: "resource stats://pond", cli: "status" },
}

test("every operation is on every surface, or it is said why not", () => {
  expect(new Set(OPERATIONS.map(({ name }) => name))).toEqual(new Set(Object.keys(ASKED)))
  const { paths } = openApi() as { paths: Record<string, object> }
  for (const { name, summary } of OPERATIONS) {
    const { mcp = "", cli = "" } = ASKED[name] ?? {}
    expect(Object.keys(paths)).toContain(`/v1/${name}`)
    expect([...schemas().keys()]).toEqual(expect.arrayContaining([`${name}_request`, `${name}_response`]))
    expect(summary).toMatch(/^[A-Z].*\.$/)
    const [kind, called] = mcp.split(" ")
    if (kind === "tool") expect(TOOLS.map((tool) => tool.name)).toContain(called ?? "")
    else if (kind === "resource") expect(RESOURCES.map(({ uri }) => uri)).toContain(called ?? "")
    else expect(mcp).toMatch(/^none: .{10}/)
    if (!cli.startsWith("none: ")) expect(VERBS.map((verb) => verb.name)).toContain(cli)
  }
  const tools = Object.values(ASKED).filter(({ mcp }) => mcp.startsWith("tool "))
  expect(TOOLS.length).toBe(tools.length)
})

test("what a tool of MCP takes, its operation takes too", () => {
  for (const tool of TOOLS) {
    const name = Object.entries(ASKED).find(([, { mcp }]) => mcp === `tool ${tool.name}`)?.[0]
    const operation = OPERATIONS.find((each) => each.name === name)
    const own = Object.keys((tool.input as unknown as { properties: object }).properties)
    const input = operation?.input as unknown as { properties: Record<string, { properties?: object }> }
    const taken = [...Object.keys(input.properties), ...Object.keys(input.properties["filters"]?.properties ?? {})]
    expect({ tool: tool.name, unknown: own.filter((each) => !taken.includes(each)) }).toEqual({
      tool: tool.name,
      unknown: [],
    })
  }
})
