/**
 * A turn of the model as the messages of a chat: each has one thought, what was said, and then its calls. What is said behind
 * a call is the next message, so that the order stays.
 */
import type { AssistantTurn, CallBlock, FileBlock } from "./turns.ts"

export interface ChatStep {
  readonly thoughts: readonly string[]
  readonly texts: readonly string[]
  readonly calls: readonly CallBlock[]
}

/** `lose` is told of files that are no text: a chat has no place for one that the model showed. */
export function chatSteps({ blocks }: AssistantTurn, lose: (file: FileBlock["file"]) => void): ChatStep[] {
  const steps: { thoughts: string[]; texts: string[]; calls: CallBlock[] }[] = []
  const open = (isFull: (step: ChatStep) => boolean) => {
    const last = steps.at(-1)
    if (last !== undefined && !isFull(last)) return last
    const step = { thoughts: [], texts: [], calls: [] }
    steps.push(step)
    return step
  }
  const hasCalls = ({ calls }: ChatStep) => calls.length > 0
  for (const block of blocks) {
    if (block.type === "call") open(() => false).calls.push(block)
    else if (block.type === "reasoning")
      open(({ thoughts, texts, calls }) => thoughts.length + texts.length + calls.length > 0).thoughts.push(block.text)
    else if (block.type === "text") open(hasCalls).texts.push(block.text)
    else if ("text" in block.file.data) open(hasCalls).texts.push(block.file.data.text)
    else lose(block.file)
  }
  return steps
}
