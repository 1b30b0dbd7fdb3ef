/** What a tool of MCP is, and what it answers with. */
import type { TSchema } from "typebox"
import type { Operation, RunContext } from "../operations/operation.ts"

export interface Tool {
  /** Its name as a tool and whether it only reads are the operation's. */
  readonly operation: Pick<Operation, "surfaces" | "read">
  readonly description: string
  readonly input: TSchema
  /** What a host may show of an answer before it cuts. No answer has more. */
  readonly resultCharsMax: number
  readonly run: (context: ToolContext, given: unknown) => Promise<ToolAnswer>
}

export interface ToolContext extends RunContext {
  /** The directory that the agent works in, where its client says so or started this server there. */
  readonly near?: () => Promise<string | undefined>
}

export interface ToolAnswer {
  readonly text: string
  /** For programs, beside the text. Not where the text is the point: a host would show the model this instead. */
  readonly structure?: Readonly<Record<string, unknown>>
  readonly link?: { readonly uri: string; readonly name: string; readonly mimeType: string; readonly size: number }
  /** Whether the text says what was wrong with the call. */
  readonly isError?: boolean
}

export function toolName({ operation: { surfaces } }: Tool): string {
  if (!("http" in surfaces) || surfaces.mcp === undefined)
    throw new TypeError("the operation of a tool has no name for it")
  return surfaces.mcp
}
