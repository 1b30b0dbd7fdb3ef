/** What the process of a query is asked, and what it answers: the whole protocol between `sandbox.ts` and `engine.ts`. */
import type { ColumnKind } from "../../../substrate/table-definition.ts"
import type { Cell, Column, Row } from "../answer.ts"

export type Question = OpenQuestion | EngineQuestion

export type OpenQuestion = { readonly ask: "open" } & EngineOptions

export type EngineQuestion =
  | { readonly ask: "run"; readonly sql: string }
  | { readonly ask: "value"; readonly sql: string }
  /** Nothing where the text is longer than this. */
  | { readonly ask: "text"; readonly sql: string; readonly unitsMax: number }
  | { readonly ask: "rows"; readonly sql: string }
  | { readonly ask: "append"; readonly table: string; readonly kinds: readonly ColumnKind[] }
  | { readonly ask: "chunk"; readonly rows: number; readonly columns: readonly (readonly unknown[])[] }
  | { readonly ask: "appended" }
  | { readonly ask: "stream"; readonly sql: string }
  | { readonly ask: "next" }

export interface EngineOptions {
  /** Where it may put what does not fit into memory. */
  readonly spill: string
  /** The one file that it may write; nothing where it may write none. */
  readonly output: string | undefined
  readonly nowMicros: bigint
  /** Of the processor, all threads together. */
  readonly cpuSeconds: number
}

export interface Answers {
  readonly open: undefined
  readonly run: undefined
  readonly value: Cell
  readonly text: string | undefined
  readonly rows: readonly Row[]
  readonly append: undefined
  readonly chunk: undefined
  readonly appended: undefined
  readonly stream: readonly Column[]
  /** Nothing after the last row. */
  readonly next: readonly Row[] | undefined
}
