/**
 * What a client asks its model, in one shape for four protocols: OpenAI's Responses and Chat Completions, Anthropic's
 * Messages, and Google's `generateContent` (`gemini.ts`). The items are what somebody said or did, in order; `compare.ts` compares them.
 */

export type Api = "responses" | "chat" | "anthropic"

export interface Item {
  readonly role: "user" | "assistant" | "reasoning" | "call" | "result"
  readonly text?: string
  readonly images?: number
  readonly id?: string
  readonly name?: string
  /** Of a call: what it was given, as the client writes it. */
  readonly args?: string
  readonly isError?: boolean
  /** Of a call: the provider did it himself, and keeps what came out of it. */
  readonly isHosted?: boolean
}

export interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** A tool that this request lets the model call. */
export interface Offered {
  readonly name: string
  readonly params?: Schema
  /** It takes a text and no parameters. */
  readonly isCustom?: boolean
  readonly namespace?: string
}

export interface Asked {
  readonly system: string
  readonly tools: readonly Offered[]
  readonly items: readonly Item[]
  /** A question on the side that wants a JSON document as its answer. */
  readonly wantedJson?: Schema
}

interface Piece {
  readonly type?: string
  readonly text?: string
  readonly thinking?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly tool_use_id?: string
  readonly content?: Content
  readonly is_error?: boolean
}
type Content = string | readonly Piece[] | null | undefined

interface Tool {
  readonly type?: string
  readonly name?: string
  readonly parameters?: Schema
  readonly input_schema?: Schema
  readonly function?: { readonly name: string; readonly parameters?: Schema }
  readonly tools?: readonly Tool[]
}

interface ResponsesItem {
  readonly type?: string
  readonly role?: string
  readonly content?: Content
  readonly summary?: readonly Piece[]
  readonly id?: string
  readonly call_id?: string
  readonly name?: string
  readonly arguments?: string
  readonly input?: string
  readonly output?: Content
  readonly action?: unknown
  readonly tools?: readonly Tool[]
}

interface ChatMessage {
  readonly role: string
  readonly content?: Content
  readonly reasoning_content?: string
  readonly tool_call_id?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
}

/** The body of a request, as far as it is read here. */
export interface Body {
  readonly model?: string
  readonly stream?: boolean
  readonly thinking?: { readonly type?: string }
  readonly instructions?: string
  readonly system?: Content
  readonly tools?: readonly Tool[]
  readonly input?: string | readonly ResponsesItem[]
  readonly messages?: readonly ChatMessage[]
}

export function readRequest(api: Api, body: Body): Asked {
  if (api === "responses") return readResponses(body)
  return api === "chat" ? readChat(body) : readMessages(body)
}

function textOf(content: Content): string {
  if (content === null || content === undefined) return ""
  if (typeof content === "string") return content
  return content.flatMap(({ text }) => (text === undefined || text === "" ? [] : [text])).join("\n")
}

function imagesOf(content: Content): { readonly images?: number } {
  if (!Array.isArray(content)) return {}
  const images = (content as readonly Piece[]).filter(({ type }) => type?.includes("image")).length
  return images === 0 ? {} : { images }
}

// --- Responses ---------------------------------------------------------------------------------------------------------

function readResponses({ instructions, tools, input }: Body): Asked {
  const given: readonly ResponsesItem[] =
    typeof input === "string" ? [{ type: "message", role: "user", content: input }] : (input ?? [])
  const told = given.filter(({ role }) => role === "system" || role === "developer")
  return {
    system: [instructions ?? "", ...told.map(({ content }) => textOf(content))].join("\n"),
    tools: [...(tools ?? []), ...given.flatMap((item) => item.tools ?? [])].flatMap((tool) => offered(tool)),
    items: given.filter((item) => !told.includes(item)).flatMap(responsesItem),
  }
}

function offered(tool: Tool, namespace?: string): Offered[] {
  if (tool.type === "namespace") return (tool.tools ?? []).flatMap((inner) => offered(inner, tool.name))
  const { name = tool.type ?? "", parameters } = tool
  return [
    {
      name,
      ...(parameters === undefined ? {} : { params: parameters }),
      ...(namespace === undefined ? {} : { namespace }),
      isCustom: tool.type === "custom",
    },
  ]
}

function responsesItem(item: ResponsesItem): Item[] {
  const { type = "message", content, call_id: id = "", name = "" } = item
  if (type === "message") {
    const role = item.role === "assistant" ? "assistant" : "user"
    return [{ role, text: textOf(content), ...imagesOf(content) }]
  }
  if (type === "reasoning") return [{ role: "reasoning", text: textOf(item.summary) }]
  if (type === "function_call") return [{ role: "call", id, name, args: item.arguments ?? "" }]
  if (type === "custom_tool_call") return [{ role: "call", id, name, args: item.input ?? "" }]
  if (type === "local_shell_call") return [{ role: "call", id, name: type, args: JSON.stringify(item.action) }]
  if (type === "web_search_call" && item.id !== undefined)
    return [{ role: "call", id: item.id, name: type, args: JSON.stringify(item.action), isHosted: true }]
  if (type.endsWith("_output")) return [{ role: "result", id, text: textOf(item.output), ...imagesOf(item.output) }]
  return []
}

// --- Chat Completions ----------------------------------------------------------------------------------------------------

function readChat({ tools, messages = [] }: Body): Asked {
  const told = messages.filter(({ role }) => role === "system" || role === "developer")
  return {
    system: told.map(({ content }) => textOf(content)).join("\n"),
    tools: (tools ?? []).map(({ function: named }) => ({
      name: named?.name ?? "",
      ...(named?.parameters === undefined ? {} : { params: named.parameters }),
    })),
    items: messages.filter((message) => !told.includes(message)).flatMap(chatItems),
  }
}

function chatItems({ role, content, reasoning_content, tool_call_id: id = "", tool_calls }: ChatMessage): Item[] {
  const text = textOf(content)
  if (role === "tool") return [{ role: "result", id, text, ...imagesOf(content) }]
  const said: Item = { role: role === "assistant" ? "assistant" : "user", text, ...imagesOf(content) }
  return [
    ...(reasoning_content === undefined || reasoning_content === ""
      ? []
      : [{ role: "reasoning", text: reasoning_content } as const]),
    ...(text === "" && said.images === undefined ? [] : [said]),
    ...(tool_calls ?? []).map(
      (call) => ({ role: "call", id: call.id, name: call.function.name, args: call.function.arguments }) as const,
    ),
  ]
}

// --- Messages ------------------------------------------------------------------------------------------------------------

function readMessages({ system, tools, messages = [] }: Body): Asked {
  const told = messages.filter(({ role }) => role === "system")
  return {
    system: [textOf(system), ...told.map(({ content }) => textOf(content))].join("\n"),
    tools: (tools ?? []).map(({ name, type, input_schema }) => ({
      name: name ?? type ?? "",
      ...(input_schema === undefined ? {} : { params: input_schema }),
    })),
    items: messages.filter((message) => !told.includes(message)).flatMap(messageItems),
  }
}

/** What a person says stands in several pieces, among it what the client adds: it is one item until something else comes. */
function messageItems({ role, content }: ChatMessage): Item[] {
  const items: Item[] = []
  const pieces = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? [])
  for (const piece of pieces) {
    const last = items.at(-1)
    const item = messageItem(role, piece)
    if (item === undefined) continue
    if (item.role === "user" && last?.role === "user") {
      const text = [last.text ?? "", item.text ?? ""].filter((each) => each !== "").join("\n")
      const images = (last.images ?? 0) + (item.images ?? 0)
      items[items.length - 1] = { role: "user", text, ...(images === 0 ? {} : { images }) }
    } else items.push(item)
  }
  return items
}

function messageItem(role: string, piece: Piece): Item | undefined {
  switch (piece.type) {
    case "text":
      return { role: role === "user" ? "user" : "assistant", text: piece.text ?? "" }
    case "thinking":
    case "redacted_thinking":
      return { role: "reasoning", text: piece.thinking ?? "" }
    case "tool_use":
      return { role: "call", id: piece.id ?? "", name: piece.name ?? "", args: JSON.stringify(piece.input) }
    case "tool_result":
      return {
        role: "result",
        id: piece.tool_use_id ?? "",
        text: textOf(piece.content),
        ...imagesOf(piece.content),
        ...(piece.is_error === true ? { isError: true } : {}),
      }
    case "image":
    case "document":
      return { role: "user", text: "", images: 1 }
    default:
      return undefined
  }
}
