/**
 * Google's `generateContent`, as Gemini CLI asks it: the model and whether to stream stand in the path, calls and results are
 * parts of a content, and a question on the side names the schema of the JSON that it wants.
 */
import type { ServerResponse } from "node:http"
import { pieces, type Reply, sealed, sendJson } from "./reply.ts"
import type { Asked, Item, Offered, Schema } from "./request.ts"

interface Part {
  readonly text?: string
  readonly thought?: boolean
  readonly inlineData?: unknown
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: unknown }
  readonly functionResponse?: { readonly id?: string; readonly response?: Readonly<Record<string, unknown>> }
}

interface Content {
  readonly role?: string
  readonly parts?: readonly Part[]
}

interface Declared {
  readonly name: string
  readonly parametersJsonSchema?: Schema
  readonly parameters?: Schema
}

/** The body of a request, as far as it is read here. */
export interface GeminiBody {
  readonly contents?: readonly Content[]
  readonly systemInstruction?: Content
  readonly tools?: readonly { readonly functionDeclarations?: readonly Declared[] }[]
  readonly generationConfig?: { readonly responseJsonSchema?: Schema; readonly responseSchema?: Schema }
}

export interface GeminiRoute {
  readonly model: string
  readonly isStream: boolean
}

export function geminiRoute(path: string): GeminiRoute | undefined {
  const [, model, how] = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(path) ?? []
  return model === undefined ? undefined : { model, isStream: how === "streamGenerateContent" }
}

export function readGemini({ contents = [], systemInstruction, tools = [], generationConfig = {} }: GeminiBody): Asked {
  const { responseJsonSchema, responseSchema } = generationConfig
  const wantedJson = responseJsonSchema ?? responseSchema
  return {
    system: (systemInstruction?.parts ?? []).map(({ text = "" }) => text).join("\n"),
    tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(offered)),
    items: contents.flatMap(({ role, parts = [] }) => parts.flatMap((part) => itemsOf(role === "model", part))),
    ...(wantedJson === undefined ? {} : { wantedJson }),
  }
}

function offered({ name, parametersJsonSchema, parameters }: Declared): Offered {
  const params = parametersJsonSchema ?? parameters
  return { name, ...(params === undefined ? {} : { params }) }
}

function itemsOf(isModel: boolean, { text, thought, inlineData, functionCall, functionResponse }: Part): Item[] {
  const role = isModel ? "assistant" : "user"
  if (functionCall !== undefined) {
    const { id = "", name, args = {} } = functionCall
    return [{ role: "call", id, name, args: JSON.stringify(args) }]
  }
  if (functionResponse !== undefined) {
    const { id = "", response = {} } = functionResponse
    const { output, error } = response
    const said = output ?? error
    return [{ role: "result", id, text: typeof said === "string" ? said : JSON.stringify(response) }]
  }
  if (thought === true) return [{ role: "reasoning", text: text ?? "" }]
  if (inlineData !== undefined) return [{ role, text: "", images: 1 }]
  return text === undefined || text === "" ? [] : [{ role, text }]
}

export function sendGemini(response: ServerResponse, { model, isStream }: GeminiRoute, reply: Reply): void {
  const { reasoning, text, calls, usage } = reply
  const responseId = crypto.randomUUID()
  const usageMetadata = {
    ...{ promptTokenCount: usage.input, cachedContentTokenCount: usage.cached },
    ...{ candidatesTokenCount: usage.output, totalTokenCount: usage.input + usage.output },
  }
  const document = (said: readonly object[], isLast: boolean) => {
    const candidate = { index: 0, content: { role: "model", parts: said }, ...(isLast ? { finishReason: "STOP" } : {}) }
    return { responseId, modelVersion: model, candidates: [candidate], usageMetadata }
  }
  const parts = [
    ...(reasoning === "" ? [] : [{ text: `**A thought**\n${reasoning}`, thought: true }]),
    ...pieces(text).map((piece) => ({ text: piece })),
    ...calls.map(({ id, name, params = {} }, index) => ({
      functionCall: { id, name, args: params },
      ...(index === 0 ? { thoughtSignature: sealed(reasoning) } : {}),
    })),
  ]
  if (!isStream) {
    sendJson(response, document(parts, true))
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  const send = (value: object) => response.write(`data: ${JSON.stringify(value)}\r\n\r\n`)
  for (const part of parts) send(document([part], false))
  send(document([{ text: "" }], true))
  response.end()
}
