/**
 * The answer of the model on the wire: server-sent events of each of the three ways, cut into small pieces as a model
 * streams them, or one document where the client did not ask for a stream.
 */
import type { ServerResponse } from "node:http"
import type { Api, Body } from "./request.ts"
import type { Call } from "./tools.ts"

export interface Reply {
  readonly reasoning: string
  readonly text: string
  readonly calls: readonly (Call & { readonly id: string })[]
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number }
}

interface Wire {
  readonly model: string
  readonly isStream: boolean
  /** Of Anthropic: thinking is answered where it was asked for. */
  readonly isThinking: boolean
}

export function sendReply(response: ServerResponse, api: Api, body: Body, reply: Reply): void {
  const wire: Wire = {
    model: body.model ?? "scripted",
    isStream: body.stream === true,
    isThinking: body.thinking !== undefined && body.thinking.type !== "disabled",
  }
  if (api === "responses") sendResponses(response, wire, reply)
  else if (api === "chat") sendChat(response, wire, reply)
  else sendMessages(response, wire, reply)
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(value))
}

function newId(prefix: string): string {
  return `${prefix}${crypto.randomUUID().replaceAll("-", "")}`
}

export const sealed = (text: string): string => Buffer.from(text).toString("base64")

/** Whole characters, few at a time; of a long text many, or it would take minutes. */
export function pieces(text: string): string[] {
  const characters = [...text]
  const size = characters.length > 4000 ? 2000 : 12
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  )
}

type Send = (type: string, value: object) => void

function startStream(response: ServerResponse): Send {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  return (type, value) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`)
}

// --- Responses ---------------------------------------------------------------------------------------------------------

function sendResponses(response: ServerResponse, { model, isStream }: Wire, reply: Reply): void {
  const output = responsesItems(reply)
  const { input, output: said, cached } = reply.usage
  const whole = {
    ...{ id: newId("resp_"), object: "response", created_at: Math.floor(Date.now() / 1000), model, tools: [] },
    parallel_tool_calls: true,
  }
  const done = {
    ...{ ...whole, status: "completed", output: output.map(({ item }) => item) },
    usage: {
      ...{ input_tokens: input, output_tokens: said, total_tokens: input + said },
      ...{ input_tokens_details: { cached_tokens: cached }, output_tokens_details: { reasoning_tokens: 0 } },
    },
  }
  if (!isStream) {
    sendJson(response, done)
    return
  }
  const stream = startStream(response)
  let number = 0
  const send: Send = (type, value) => stream(type, { sequence_number: number++, ...value })
  const begun = { ...whole, status: "in_progress", output: [] }
  send("response.created", { response: begun })
  send("response.in_progress", { response: begun })
  output.forEach((each, index) => {
    streamItem(send, each, index)
  })
  send("response.completed", { response: done })
  response.end()
}

interface OutputItem {
  readonly item: { readonly id: string; readonly type: string } & Record<string, unknown>
  /** The item as it is before anything was said in it. */
  readonly empty: object
  readonly text: string
  readonly part?: object
}

function responsesItems({ reasoning, text, calls }: Reply): OutputItem[] {
  const thought = { type: "summary_text", text: reasoning }
  const said = { type: "output_text", text, annotations: [], logprobs: [] }
  const thinking = {
    ...{ id: newId("rs_"), type: "reasoning", summary: [thought] },
    encrypted_content: `gAAAAA${sealed(reasoning)}`,
  }
  const message = { id: newId("msg_"), type: "message", role: "assistant", status: "completed", content: [said] }
  return [
    ...(reasoning === ""
      ? []
      : [
          {
            ...{ item: thinking, text: reasoning, part: thought },
            empty: { ...thinking, summary: [], encrypted_content: null },
          },
        ]),
    ...(text === ""
      ? []
      : [{ item: message, text, part: said, empty: { ...message, status: "in_progress", content: [] } }]),
    ...calls.map((call) => responsesCall(call)),
  ]
}

function responsesCall({ id, name, namespace, input, params }: Reply["calls"][number]): OutputItem {
  const where = namespace === undefined ? {} : { namespace }
  const shared = { status: "completed", call_id: id, name, ...where }
  const item =
    input === undefined
      ? { ...{ id: newId("fc_"), type: "function_call" }, ...shared, arguments: JSON.stringify(params) }
      : { ...{ id: newId("ctc_"), type: "custom_tool_call" }, ...shared, input }
  const bare = input === undefined ? { arguments: "" } : { input: "" }
  return { item, text: input ?? JSON.stringify(params), empty: { ...item, status: "in_progress", ...bare } }
}

function streamItem(send: Send, { item, empty, text, part }: OutputItem, output_index: number): void {
  const at = { item_id: item.id, output_index }
  send("response.output_item.added", { output_index, item: empty })
  if (item.type === "reasoning") {
    const inner = { ...at, summary_index: 0 }
    send("response.reasoning_summary_part.added", { ...inner, part: { type: "summary_text", text: "" } })
    for (const delta of pieces(text)) send("response.reasoning_summary_text.delta", { ...inner, delta })
    send("response.reasoning_summary_text.done", { ...inner, text })
    send("response.reasoning_summary_part.done", { ...inner, part })
  }
  if (item.type === "message") {
    const inner = { ...at, content_index: 0 }
    send("response.content_part.added", { ...inner, part: { type: "output_text", text: "", annotations: [] } })
    for (const delta of pieces(text)) send("response.output_text.delta", { ...inner, delta })
    send("response.output_text.done", { ...inner, text })
    send("response.content_part.done", { ...inner, part })
  }
  if (item.type === "function_call") {
    for (const delta of pieces(text)) send("response.function_call_arguments.delta", { ...at, delta })
    send("response.function_call_arguments.done", { ...at, arguments: text })
  }
  send("response.output_item.done", { output_index, item })
}

// --- Chat Completions ----------------------------------------------------------------------------------------------------

function sendChat(response: ServerResponse, { model, isStream }: Wire, { reasoning, text, calls, usage }: Reply): void {
  const shared = { id: newId("chatcmpl-"), created: Math.floor(Date.now() / 1000), model }
  const spent = {
    ...{ prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output },
    prompt_tokens_details: { cached_tokens: usage.cached },
  }
  const tool_calls = calls.map(({ id, name, params }) => ({
    ...{ id, type: "function" },
    function: { name, arguments: JSON.stringify(params) },
  }))
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop"
  if (!isStream) {
    const message = { role: "assistant", content: text, ...(tool_calls.length > 0 ? { tool_calls } : {}) }
    const choices = [{ index: 0, finish_reason, message }]
    sendJson(response, { ...shared, object: "chat.completion", choices, usage: spent })
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  const send = (choices: readonly object[], rest = {}) =>
    response.write(`data: ${JSON.stringify({ ...shared, object: "chat.completion.chunk", choices, ...rest })}\n\n`)
  const say = (delta: object, finished: string | null = null) => send([{ index: 0, delta, finish_reason: finished }])
  say({ role: "assistant", content: "" })
  for (const piece of pieces(reasoning)) say({ reasoning_content: piece })
  for (const content of pieces(text)) say({ content })
  tool_calls.forEach((call, index) => {
    say({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: "" } }] })
    for (const piece of pieces(call.function.arguments))
      say({ tool_calls: [{ index, function: { arguments: piece } }] })
  })
  say({}, finish_reason)
  send([], { usage: spent })
  response.end("data: [DONE]\n\n")
}

// --- Messages ------------------------------------------------------------------------------------------------------------

interface Block {
  readonly content: object
  readonly empty: object
  readonly deltas: readonly object[]
}

function sendMessages(response: ServerResponse, wire: Wire, reply: Reply): void {
  const { input, output, cached } = reply.usage
  const blocks = blocksOf(reply, wire.isThinking)
  const usage = {
    ...{ input_tokens: Math.max(1, input - cached), output_tokens: output },
    ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: cached },
  }
  const message = { id: newId("msg_01"), type: "message", role: "assistant", model: wire.model }
  const stop = { stop_reason: reply.calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null }
  if (!wire.isStream) {
    sendJson(response, { ...message, content: blocks.map(({ content }) => content), ...stop, usage })
    return
  }
  const send = startStream(response)
  const begun = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  }
  send("message_start", { message: begun })
  blocks.forEach(({ empty, deltas }, index) => {
    send("content_block_start", { index, content_block: empty })
    for (const delta of deltas) send("content_block_delta", { index, delta })
    send("content_block_stop", { index })
  })
  send("message_delta", { delta: stop, usage })
  send("message_stop", {})
  response.end()
}

function blocksOf({ reasoning, text, calls }: Reply, isThinking: boolean): Block[] {
  const blocks: Block[] = []
  if (reasoning !== "" && isThinking) {
    const signature = `EqQB${sealed(reasoning)}`
    const deltas = pieces(reasoning).map((thinking) => ({ type: "thinking_delta", thinking }))
    blocks.push({
      content: { type: "thinking", thinking: reasoning, signature },
      empty: { type: "thinking", thinking: "", signature: "" },
      deltas: [...deltas, { type: "signature_delta", signature }],
    })
  }
  if (text !== "" || calls.length === 0) {
    const deltas = pieces(text).map((piece) => ({ type: "text_delta", text: piece }))
    blocks.push({ content: { type: "text", text }, empty: { type: "text", text: "" }, deltas })
  }
  for (const { id, name, params } of calls) {
    const use = { type: "tool_use", id, name }
    const deltas = pieces(JSON.stringify(params)).map((partial_json) => ({ type: "input_json_delta", partial_json }))
    blocks.push({ content: { ...use, input: params }, empty: { ...use, input: {} }, deltas })
  }
  return blocks
}
