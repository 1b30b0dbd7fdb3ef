/**
 * MCP over the operations that read. `initialize` is answered at once: the store is opened by the first tool that is called.
 * stdout carries the protocol and nothing else.
 */
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js"
import { ERROR_TABLE, type PondError, toPondError } from "../model/errors.ts"
import type { Pond } from "../operations/pond.ts"
import { VERSION } from "../platform/host/version.ts"
import { lazy } from "../platform/lazy.ts"
import { PROMPTS, renderPrompt } from "./prompts.ts"
import { RESOURCES, readResource, TEMPLATES } from "./resources.ts"
import { type Tool, type ToolAnswer, toolName } from "./tool.ts"
import { TOOLS } from "./tools.ts"

const INSTRUCTIONS =
  "pond recalls past sessions of coding agents (Claude Code, Codex, opencode, pi, Gemini CLI, GitHub Copilot CLI and others): earlier work, decisions and their reasons, across sessions and clients; " +
  "not the current conversation. List sessions with pond_list, newest first. Find messages with pond_search, then read them with pond_get, by message_id or a whole session by session_id; both answer with readable " +
  "transcripts. Scope with filters (project, session_id, source_agent, role, from_date, to_date), not with the query. Scores compare only within one answer. Sub-agents are " +
  'sessions of their own (source_agent like "claude-code/general-purpose"), and pond_get lists them under their parent. To recover context that compaction lost, find this ' +
  'session with pond_search and read its end with pond_get(session_id, session_from="end"). For counts, joins and groups use pond_sql_query, one SELECT over sessions, messages and parts. More on demand: resources schema://pond (filters and answers), schema://pond-sql (tables, functions, examples), stats://pond (what is stored).'

function annotationsOf({ operation: { read } }: Tool) {
  return { readOnlyHint: read, idempotentHint: read, openWorldHint: false, destructiveHint: false }
}

function createMcpServer(pond: Pond, isBeside = false): Server {
  const server = new Server(
    { name: "pond", version: VERSION },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: INSTRUCTIONS },
  )
  const near = isBeside ? lazy(() => directoryOf(server)) : undefined
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: TOOLS.map((tool) => ({
      name: toolName(tool),
      description: tool.description,
      inputSchema: JSON.parse(JSON.stringify(tool.input)) as { type: "object" },
      annotations: annotationsOf(tool),
      _meta: { "anthropic/maxResultSizeChars": tool.resultCharsMax },
    })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = TOOLS.find((each) => toolName(each) === params.name)
    if (tool === undefined) throw unknownName("tool", params.name, TOOLS.map(toolName))
    try {
      return callResult(
        await tool.run({ pond, signal, ...(near === undefined ? {} : { near }) }, params.arguments ?? {}),
      )
    } catch (error) {
      const { code, message, details } = toPondError(error)
      if (code === "validation_failed") return callResult({ text: correctable(message, details), isError: true })
      throw rpcError(pond, error)
    }
  })
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: RESOURCES.map(({ uri, name, mimeType }) => ({ uri, name, mimeType })),
  }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [...TEMPLATES] }))
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }, { signal }) => {
    try {
      return { contents: [await readResource({ pond, signal }, params.uri)] }
    } catch (error) {
      throw rpcError(pond, error, { not_found: RESOURCE_NOT_FOUND })
    }
  })
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: PROMPTS.map(({ name, description, arguments: taken }) => ({ name, description, arguments: [...taken] })),
  }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = PROMPTS.find(({ name }) => name === params.name)
    if (prompt === undefined) {
      throw unknownName(
        "prompt",
        params.name,
        PROMPTS.map(({ name }) => name),
      )
    }
    const text = renderPrompt(prompt, params.arguments ?? {})
    if (text === undefined) throw invalidParams(`The prompt ${prompt.name} needs: ${prompt.required.join(", ")}.`)
    return {
      description: prompt.description,
      messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
    }
  })
  return server
}

/** The first root of a client that has roots, or where it started this process. */
async function directoryOf(server: Server): Promise<string | undefined> {
  if (server.getClientCapabilities()?.roots === undefined) return resolve(".")
  try {
    const { roots } = await server.listRoots(undefined, { timeout: ROOTS_MS })
    const [first] = roots.flatMap(({ uri }) => (uri.startsWith("file://") ? fileURLToPath(uri) : []))
    return first ?? resolve(".")
  } catch {
    // A client that does not answer is one without roots.
    return resolve(".")
  }
}

/** A search does not wait longer for it. */
const ROOTS_MS = 1_000

/** Until the client goes away, or the signal comes. */
export async function serveStdio(pond: Pond, signal: AbortSignal): Promise<void> {
  const server = createMcpServer(pond, true)
  const closed = Promise.withResolvers<void>()
  server.onclose = () => closed.resolve()
  const transport = new StdioServerTransport()
  signal.addEventListener("abort", () => void server.close())
  process.stdin.once("end", () => void server.close())
  await server.connect(transport)
  await closed.promise
}

/** One server per request: nothing is kept between them, so that any number of clients may ask. */
export function createMcpHandler(pond: Pond): (request: Request) => Promise<Response> {
  return async (request) => {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    const server = createMcpServer(pond)
    await server.connect(transport)
    return await transport.handleRequest(request)
  }
}

function callResult({ text, structure, link, isError }: ToolAnswer): CallToolResult {
  return {
    content: [{ type: "text", text }, ...(link === undefined ? [] : [{ type: "resource_link" as const, ...link }])],
    ...(structure === undefined ? {} : { structuredContent: structure }),
    ...(isError === true ? { isError } : {}),
  }
}

/** The protocol's own code for a resource that is not there. The library has no name for it. */
const RESOURCE_NOT_FOUND = -32002

function rpcError(
  pond: Pond,
  thrown: unknown,
  codes: { readonly [code in PondError["code"]]?: number } = {},
): McpError {
  const error = toPondError(thrown)
  if (error.code === "internal") pond.host.log.warn(`${error.message} ${String(error.cause ?? "")}`)
  const { rpc, retryable } = ERROR_TABLE[error.code]
  return mcpError(codes[error.code] ?? rpc, error.message, { ...error.details, pond_code: error.code, retryable })
}

/** A failure of the protocol is often kept from the model; a result that says what is wrong is read, and corrected. */
function correctable(message: string, { faults }: PondError["details"]): string {
  const others = Array.isArray(faults) ? (faults.slice(1) as { readonly path: string; readonly message: string }[]) : []
  return [message, ...others.map((fault) => `Also at ${fault.path}: ${fault.message}.`)].join("\n")
}

function unknownName(kind: "tool" | "prompt", name: string, known: readonly string[]): McpError {
  return invalidParams(`No ${kind} ${JSON.stringify(name)}. There are: ${known.join(", ")}.`)
}

function invalidParams(message: string): McpError {
  return mcpError(ErrorCode.InvalidParams, message, { pond_code: "validation_failed", retryable: false })
}

function mcpError(code: number, message: string, data: object): McpError {
  const failure = new McpError(code, message, data)
  // The library puts its own prefix before a message; what users read is ours.
  failure.message = message
  return failure
}
