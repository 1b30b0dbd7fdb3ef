/**
 * What a query may be: one SELECT over the tables that pond offers, calling functions of a closed list. Read from the
 * engine's own syntax tree, never from the text, so that no quoting, comment or casing can say something else.
 */
import { PondError } from "../../model/errors.ts"
import { suggestion } from "../../platform/nearest.ts"
import { OFFERED_FUNCTIONS, OFFERED_TABLE_FUNCTIONS } from "./functions.ts"

/** Longer than any query that a person or a model writes. */
const SQL_LENGTH_MAX = 50_000

type Node = Readonly<Record<string, unknown>>

/** What stands in a FROM. A SHOW_REF (DESCRIBE, SUMMARIZE, SHOW) looks at the engine and not at the data. */
const OFFERED_REFS = new Set([
  "BASE_TABLE",
  "SUBQUERY",
  "JOIN",
  "TABLE_FUNCTION",
  "EXPRESSION_LIST",
  "EMPTY",
  "PIVOT",
  "COLUMN_DATA",
])
const OFFERED_QUERIES = new Set(["SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"])
const SYSTEM_NAME = /^(duckdb|pg|sqlite|pragma|information|fts)_/i

export function checkLength(sql: string): void {
  if (sql.trim() === "") throw refused("The query is empty. Write one SELECT.")
  if (sql.includes("\0")) throw refused("The query contains a NUL character. Remove it.")
  if (sql.length > SQL_LENGTH_MAX) {
    throw refused(`The query is longer than ${SQL_LENGTH_MAX} characters. Write a shorter one.`)
  }
}

/** `tree` is what the engine made of the text, several statements or none included. */
export function checkStatement(tree: unknown, tables: ReadonlySet<string>): void {
  const { statements } = tree as { readonly statements?: readonly Node[] }
  const [statement] = statements ?? []
  if (statement === undefined) throw refused("The query has no statement. Write one SELECT.")
  if (statements?.length !== 1) throw refused("Only one SELECT is allowed per query.")
  if ([...walk(statement)].some((node) => node["class"] === "PARAMETER")) {
    throw refused("Query parameters are not supported. Write the values into the query.")
  }
  const named = new Set([...walk(statement)].flatMap(commonTableNames))
  for (const name of named) {
    if (SYSTEM_NAME.test(name))
      throw refused(`"${name}" cannot be the name of a common table expression. Choose another name.`)
  }
  const known = { tables, named }
  // A node is met before what it holds.
  const tableCalls = new WeakSet<Node>()
  for (const node of walk(statement)) {
    checkQuery(node)
    checkTable(node, known)
    checkFunction(node, tableCalls)
  }
}

function* walk(value: unknown): Generator<Node> {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (Array.isArray(next)) waiting.push(...next)
    else if (typeof next === "object" && next !== null) {
      yield next as Node
      waiting.push(...Object.values(next))
    }
  }
}

function commonTableNames(node: Node): string[] {
  const map = (node["cte_map"] as { readonly map?: readonly { readonly key: string }[] } | undefined)?.map ?? []
  const own = node["cte_name"] ?? node["ctename"]
  return [...map.map(({ key }) => key.toLowerCase()), ...(typeof own === "string" ? [own.toLowerCase()] : [])]
}

function checkQuery(node: Node): void {
  const { type } = node
  if (typeof type === "string" && type.endsWith("_NODE") && !OFFERED_QUERIES.has(type)) throw onlySelect()
  const { from_table: from } = node as { readonly from_table?: Node }
  for (const ref of [from, ...(type === "JOIN" ? [node["left"], node["right"]] : [])] as (Node | undefined)[]) {
    const kind = ref?.["type"]
    const isRef = kind !== undefined && ref?.["class"] === undefined
    if (isRef && !OFFERED_REFS.has(String(kind))) throw onlySelect()
  }
  if (type === "SHOW_REF" || "show_type" in node) throw onlySelect()
}

interface KnownTables {
  readonly tables: ReadonlySet<string>
  readonly named: ReadonlySet<string>
}

function checkTable(node: Node, { tables, named }: KnownTables): void {
  if (node["type"] !== "BASE_TABLE") return
  const name = String(node["table_name"] ?? "")
  const isPlain = [node["schema_name"], node["catalog_name"]].every((each) => each === undefined || each === "")
  const lower = name.toLowerCase()
  if (isPlain && (tables.has(lower) || named.has(lower))) return
  const spelled = [node["catalog_name"], node["schema_name"], name].filter(Boolean).join(".")
  throw new PondError(
    "validation_failed",
    `No table "${spelled}".${suggestion(name, tables)} Tables: ${[...tables].join(", ")}; and fts('messages', 'words').`,
    { details: { table: spelled, tables: [...tables] } },
  )
}

function checkFunction(node: Node, tableCalls: WeakSet<Node>): void {
  const called = node["type"] === "TABLE_FUNCTION" ? (node["function"] as Node | undefined) : undefined
  if (called !== undefined) tableCalls.add(called)
  const { function_name: name, schema, catalog } = node
  if (typeof name !== "string") return
  const isTable = tableCalls.has(node)
  const isPlain = (catalog ?? "") === "" && ["", "main"].includes(String(schema ?? ""))
  const offered = isTable ? OFFERED_TABLE_FUNCTIONS : OFFERED_FUNCTIONS
  if (!isPlain || !offered.has(name.toLowerCase())) throw noFunction(name, isTable)
}

function noFunction(name: string, isTable: boolean): PondError {
  const offered = isTable ? OFFERED_TABLE_FUNCTIONS : OFFERED_FUNCTIONS
  const where = isTable ? ` FROM can use: ${[...OFFERED_TABLE_FUNCTIONS].join(", ")}.` : ""
  return new PondError(
    "validation_failed",
    `The function ${name}() is not allowed.${suggestion(name, offered)}${where} See the resource schema://pond-sql.`,
    { details: { function: name } },
  )
}

function onlySelect(): PondError {
  return refused("Only one SELECT (or WITH … SELECT) is allowed: no writes, no files, no settings.")
}

function refused(message: string): PondError {
  return new PondError("validation_failed", message, { details: { faults: [{ path: "/sql", message }] } })
}
