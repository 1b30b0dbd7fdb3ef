/**
 * What a query must read, from the engine's optimized plan over tables that are still empty: for each table the columns,
 * the rows by a filter, and how many of them in which order where no more can matter. The plan comes as JSON of the
 * engine's own (`json_serialize_plan`); no text of a condition is ever parsed here.
 */
import type { Filter } from "../../substrate/filter.ts"
import { allOf, anyOf, condition, isStored, type PlanNode, type Translated, tableFilter } from "./filters.ts"
import type { QueryColumn } from "./query-tables.ts"

export interface PlannedRead {
  readonly table: string
  readonly columns: readonly string[]
  /** Nothing where every row is read. */
  readonly where: Filter | undefined
  readonly limit: number | undefined
  readonly orderBy: readonly { readonly column: string; readonly descending: boolean }[]
  /** Where the query has no more than the number of these rows: one of them stands for all. */
  readonly isCounted: boolean
  /** Where it has no more than the least and the greatest of columns: the rows that have them. */
  readonly extremes: PlannedRead["orderBy"]
  /** What else narrows it: only rows whose column has a value that a table read before has in its own. */
  readonly joins: readonly Join[]
}

export interface Join {
  readonly column: string
  readonly table: string
  readonly tableColumn: string
}

interface Get {
  readonly table: string
  readonly columns: readonly QueryColumn[]
  readonly needed: readonly string[]
  filter: Translated
  limit?: number
  orderBy?: PlannedRead["orderBy"]
  isCounted?: boolean
  extremes?: PlannedRead["orderBy"]
  readonly joins: Join[]
}

/** Where a column of a node comes from, when it is a column of a table as it is. */
interface Origin {
  readonly get: Get
  readonly column: QueryColumn
}

type Outputs = readonly (Origin | undefined)[]

/** Rows that are enough: set by a LIMIT, and given up by whatever counts, joins or drops rows below it. */
interface Enough {
  readonly rows: number
  readonly orders: readonly PlanNode[]
}

export function planReads(
  plans: readonly PlanNode[],
  columnsOf: (table: string) => readonly QueryColumn[],
): PlannedRead[] {
  const gets: Get[] = []
  const visitor = { gets, columnsOf }
  for (const plan of plans) visit(visitor, plan, undefined)
  const byTable = Map.groupBy(gets, ({ table }) => table)
  return [...byTable].map(([table, group]) => mergedRead(table, group, byTable))
}

/** A table that stands in a query twice is read once: the columns and rows of both. */
function mergedRead(table: string, group: readonly Get[], byTable: ReadonlyMap<string, readonly Get[]>): PlannedRead {
  const columns = [...new Set(group.flatMap(({ needed }) => needed))]
  const [only] = group
  if (only === undefined || group.length > 1) {
    return {
      table,
      columns,
      where: anyOf(group.map(({ filter }) => filter)).filter,
      limit: undefined,
      orderBy: [],
      joins: [],
      isCounted: false,
      extremes: [],
    }
  }
  const limit = only.filter.isExact ? only.limit : undefined
  return {
    table,
    columns,
    where: only.filter.filter,
    limit,
    orderBy: limit === undefined ? [] : (only.orderBy ?? []),
    isCounted: only.filter.isExact && only.isCounted === true,
    extremes: only.filter.isExact ? (only.extremes ?? []) : [],
    joins: only.joins.filter((join) => join.table !== table && byTable.get(join.table)?.length === 1),
  }
}

interface Visitor {
  readonly gets: Get[]
  readonly columnsOf: (table: string) => readonly QueryColumn[]
}

function visit(visitor: Visitor, node: PlanNode, enough: Enough | undefined): Outputs {
  const children = (node["children"] ?? []) as readonly PlanNode[]
  const below = (passed: Enough | undefined) => visit(visitor, children[0] as PlanNode, passed)
  switch (node["type"]) {
    case "LOGICAL_GET":
      return visitGet(visitor, node, enough)
    case "LOGICAL_LIMIT":
      below(limitOf(node))
      return [] // which rows these are must not depend on what is joined above
    case "LOGICAL_TOP_N":
      return visitTop(visitor, node)
    case "LOGICAL_PROJECTION":
      return projected(node, below(enoughThrough(node, enough)))
    case "LOGICAL_FILTER":
      return visitFilter(visitor, node, enough)
    case "LOGICAL_COMPARISON_JOIN":
      return visitJoin(visitor, node)
    case "LOGICAL_AGGREGATE_AND_GROUP_BY":
      return visitAggregate(visitor, node)
    default:
      for (const child of children) visit(visitor, child, undefined)
      return []
  }
}

// --- A scan ---------------------------------------------------------------------------------------------------------

function visitGet({ gets, columnsOf }: Visitor, node: PlanNode, enough: Enough | undefined): Outputs {
  const table = (node["function_data"] as { readonly table?: string } | undefined)?.table
  if (node["name"] !== "seq_scan" || table === undefined) return []
  const columns = columnsOf(table)
  const indexes = ((node["column_indexes"] ?? []) as readonly { readonly index: number }[]).map(
    ({ index }) => columns[index],
  )
  const filters = (
    node["table_filters"] as { readonly filters?: readonly { key: number; value: PlanNode }[] } | undefined
  )?.filters
  const get: Get = {
    table,
    columns,
    needed: indexes.flatMap((column) => (column === undefined ? [] : [column.name])),
    filter: allOf(
      (filters ?? []).map(({ key, value }) => {
        const column = columns[key]
        return column === undefined ? { filter: undefined, isExact: false } : tableFilter(value, column)
      }),
    ),
    joins: [],
  }
  gets.push(get)
  const shown = (node["projection_ids"] as readonly number[] | undefined) ?? indexes.map((_, index) => index)
  const outputs = shown.map((id) => origin(get, indexes[id]))
  if (enough !== undefined) setEnough(get, enough, outputs)
  return outputs
}

function origin(get: Get, column: QueryColumn | undefined): Origin | undefined {
  return column === undefined ? undefined : { get, column }
}

/** An order by anything but columns as they are needs all the rows. */
function setEnough(get: Get, { rows, orders }: Enough, outputs: Outputs): void {
  const orderBy = orders.map((order) => {
    const expression = order["expression"] as PlanNode
    const at = expression["expression_class"] === "BOUND_REF" ? outputs[Number(expression["index"])] : undefined
    const isLast = String(order["null_order"]).includes("LAST")
    return at === undefined || !isLast || !isStored(at.column)
      ? undefined
      : { column: at.column.name, descending: order["type"] === "DESCENDING" }
  })
  if (orderBy.some((order) => order === undefined)) return
  get.limit = rows
  get.orderBy = orderBy.filter((order) => order !== undefined)
}

// --- What stands above it -------------------------------------------------------------------------------------------

function visitTop(visitor: Visitor, node: PlanNode): Outputs {
  const rows = Number(node["limit"]) + Number(node["offset"] ?? 0)
  const orders = (node["orders"] ?? []) as readonly PlanNode[]
  const [child] = (node["children"] ?? []) as readonly PlanNode[]
  visit(visitor, child as PlanNode, Number.isSafeInteger(rows) ? { rows, orders } : undefined)
  return []
}

function limitOf(node: PlanNode): Enough | undefined {
  const limit = constantOf(node["limit_val"])
  const offset = constantOf(node["offset_val"]) ?? 0
  return limit === undefined ? undefined : { rows: limit + offset, orders: [] }
}

function constantOf(given: unknown): number | undefined {
  const { type, constant_integer: value } = (given ?? {}) as {
    readonly type?: string
    readonly constant_integer?: number
  }
  return type === "CONSTANT_VALUE" && Number.isSafeInteger(value) ? value : undefined
}

/** The orders above a projection, said by the columns below it. */
function enoughThrough(projection: PlanNode, enough: Enough | undefined): Enough | undefined {
  if (enough === undefined) return undefined
  const expressions = (projection["expressions"] ?? []) as readonly PlanNode[]
  const orders = enough.orders.map((order) => {
    const { index } = order["expression"] as { readonly index?: number }
    return { ...order, expression: expressions[index ?? -1] ?? {} }
  })
  return { ...enough, orders }
}

function projected(node: PlanNode, below: Outputs): Outputs {
  const expressions = (node["expressions"] ?? []) as readonly PlanNode[]
  return expressions.map((each) =>
    each["expression_class"] === "BOUND_REF" ? below[Number(each["index"])] : undefined,
  )
}

function visitFilter(visitor: Visitor, node: PlanNode, enough: Enough | undefined): Outputs {
  const [child] = (node["children"] ?? []) as readonly PlanNode[]
  const map = node["projection_map"] as readonly number[] | undefined
  const orders = enough?.orders.map((order) => {
    const expression = order["expression"] as PlanNode
    const index = Number(expression["index"])
    return map === undefined ? order : { ...order, expression: { ...expression, index: map[index] } }
  })
  const isOverScan = child?.["type"] === "LOGICAL_GET"
  const below = visit(
    visitor,
    child as PlanNode,
    isOverScan && enough !== undefined ? { ...enough, orders: orders ?? [] } : undefined,
  )
  const get = isOverScan ? visitor.gets.at(-1) : undefined
  if (get !== undefined) {
    const expressions = (node["expressions"] ?? []) as readonly PlanNode[]
    const own = expressions.map((each) => condition(each, (index) => below[index]?.column))
    get.filter = allOf([get.filter, ...own])
  }
  return map === undefined ? below : map.map((index) => below[index])
}

// --- Numbers and ends of whole tables -------------------------------------------------------------------------------

const ORDERED_KINDS = new Set(["int32", "int64", "timestamp_us"])

/** Of rows that are counted, and of the least and the greatest of a column, few need to be read. */
function visitAggregate(visitor: Visitor, node: PlanNode): Outputs {
  const [child] = (node["children"] ?? []) as readonly PlanNode[]
  const outputs = visit(visitor, child as PlanNode, undefined)
  const get = visitor.gets.at(-1)
  const expressions = (node["expressions"] ?? []) as readonly PlanNode[]
  const isGrouped = ((node["groups"] ?? []) as readonly unknown[]).length > 0
  const isPlain = expressions.every((each) => each["aggregate_type"] === "NON_DISTINCT" && each["filter"] === undefined)
  if (get === undefined || expressions.length === 0 || isGrouped || !isPlain || !isOverOneScan(child)) return []
  if (expressions.every(({ name }) => name === "count_star")) {
    get.isCounted = true
    return []
  }
  const extremes = expressions.map((each) => {
    const [of] = (each["children"] ?? []) as readonly PlanNode[]
    const column = of?.["expression_class"] === "BOUND_REF" ? outputs[Number(of["index"])]?.column : undefined
    const isExtreme = each["name"] === "min" || each["name"] === "max"
    if (!isExtreme || column === undefined || !isStored(column) || !ORDERED_KINDS.has(column.kind)) return undefined
    return { column: column.name, descending: each["name"] === "max" }
  })
  if (extremes.every((extreme) => extreme !== undefined)) get.extremes = extremes
  return []
}

function isOverOneScan(node: PlanNode | undefined): boolean {
  if (node?.["type"] === "LOGICAL_GET") return true
  if (node?.["type"] !== "LOGICAL_FILTER" && node?.["type"] !== "LOGICAL_PROJECTION") return false
  return isOverOneScan(((node["children"] ?? []) as readonly PlanNode[])[0])
}

const NARROWED: Readonly<Record<string, readonly ("left" | "right")[]>> = {
  INNER: ["left", "right"],
  SEMI: ["left"],
  LEFT: ["right"],
  RIGHT: ["left"],
  RIGHT_SEMI: ["right"],
}

/** A row that no row of the other side equals goes nowhere: it need not be read once the other side is known. */
function visitJoin(visitor: Visitor, node: PlanNode): Outputs {
  const [leftChild, rightChild] = (node["children"] ?? []) as readonly PlanNode[]
  const left = visit(visitor, leftChild as PlanNode, undefined)
  const right = visit(visitor, rightChild as PlanNode, undefined)
  const narrowed = NARROWED[String(node["join_type"])] ?? []
  for (const each of (node["conditions"] ?? []) as readonly PlanNode[]) {
    if (each["comparison"] !== "COMPARE_EQUAL") continue
    const from = sideOf(each["left"], left)
    const to = sideOf(each["right"], right)
    if (from === undefined || to === undefined || from.column.kind !== to.column.kind) continue
    if (narrowed.includes("left"))
      from.get.joins.push({ column: from.column.name, table: to.get.table, tableColumn: to.column.name })
    if (narrowed.includes("right"))
      to.get.joins.push({ column: to.column.name, table: from.get.table, tableColumn: from.column.name })
  }
  if (node["join_type"] !== "INNER") return []
  const mapped = (outputs: Outputs, map: unknown) =>
    map === undefined ? outputs : (map as readonly number[]).map((index) => outputs[index])
  return [...mapped(left, node["left_projection_map"]), ...mapped(right, node["right_projection_map"])]
}

function sideOf(expression: unknown, outputs: Outputs): Origin | undefined {
  const { expression_class: kind, index } = expression as PlanNode
  return kind === "BOUND_REF" ? outputs[Number(index)] : undefined
}
