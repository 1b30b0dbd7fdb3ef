/**
 * The messages of a session as what was said and done, in order, each tool call with its result, which most clients record
 * some messages later. What waits for a result is bounded, so that a session of any length streams.
 */
import type { Entry, Part, Role, ToolCallPart, ToolResultPart } from "../../model/session.ts"

export type Said = Moment &
  (
    | { readonly kind: "instructions"; readonly text: string }
    | { readonly kind: "part"; readonly part: Exclude<Part, ToolCallPart> }
    | { readonly kind: "call"; readonly call: ToolCallPart; readonly answer: Answer | undefined }
  )

export interface Moment {
  readonly role: Role
  readonly timestamp: string
  readonly messageId: string
  readonly ordinal: number
}

export interface Answer {
  readonly result: ToolResultPart
  readonly timestamp: string
}

export interface Pairing {
  /** What is complete once this message is known too. */
  add(entry: Entry): readonly Said[]
  end(): readonly Said[]
}

const WAITING_MAX = 64
const WAITING_CHARS_MAX = 4_000_000

interface Waiting {
  readonly said: Said
  readonly chars: number
}

export function createPairing(): Pairing {
  let waiting: Waiting[] = []
  let chars = 0

  const put = (said: Said) => {
    const size = sizeOf(said)
    waiting.push({ said, chars: size })
    chars += size
  }
  const settle = (isEnd: boolean): readonly Said[] => {
    const isOpen = ({ said }: Waiting) => said.kind === "call" && said.answer === undefined
    const settled: Said[] = []
    while (waiting.length > settled.length) {
      const first = waiting[settled.length]
      const isFull = waiting.length - settled.length > WAITING_MAX || chars > WAITING_CHARS_MAX
      if (first === undefined || (isOpen(first) && !isFull && !isEnd)) break
      chars -= first.chars
      settled.push(first.said)
    }
    waiting = waiting.slice(settled.length)
    return settled
  }
  /** The newest call that it can be the result of gets it. */
  const answerCall = (result: ToolResultPart, timestamp: string): boolean => {
    const at = waiting.findLastIndex((each) => each.said.kind === "call" && isOpenCall(each.said, result.call_id))
    const found = waiting[at]
    if (found?.said.kind !== "call") return false
    const said: Said = { ...found.said, answer: { result, timestamp } }
    const size = sizeOf(said)
    chars += size - found.chars
    waiting[at] = { said, chars: size }
    return true
  }

  return {
    add({ message, parts }) {
      const { role, timestamp, id: messageId, ordinal } = message
      const moment = { role, timestamp, messageId, ordinal }
      if (message.role === "system" && message.content !== "")
        put({ ...moment, kind: "instructions", text: message.content })
      for (const part of parts) {
        if (part.type === "tool_call") put({ ...moment, kind: "call", call: part, answer: undefined })
        else if (part.type !== "tool_result" || !answerCall(part, timestamp)) put({ ...moment, kind: "part", part })
      }
      return settle(false)
    },
    end: () => settle(true),
  }
}

function isOpenCall(said: Extract<Said, { kind: "call" }>, callId: string): boolean {
  return said.answer === undefined && said.call.call_id === callId
}

function sizeOf(said: Said): number {
  if (said.kind === "instructions") return said.text.length
  if (said.kind === "call") return lengthOf(said.call.params) + lengthOf(said.answer?.result.result)
  const { part } = said
  return "text" in part ? part.text.length : lengthOf("result" in part ? part.result : undefined)
}

function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length
  return value === undefined ? 0 : (JSON.stringify(value)?.length ?? 0)
}
