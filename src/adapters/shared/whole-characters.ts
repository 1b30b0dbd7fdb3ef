/**
 * Turns without half characters. Clients cut texts in the middle of a surrogate pair, and one half has no place in UTF-8:
 * most clients read it all the same, and send U+FFFD in its place. A client that is strict with its own files skips the whole
 * record, and the message is gone: it gets U+FFFD at once, and each text in which it stands is a loss.
 */
import { loss } from "./losses.ts"
import type { AssistantTurn, CallBlock, CallResult, FileBlock, Turn, Turns } from "./turns.ts"

type Block = Turn["blocks"][number] | AssistantTurn["blocks"][number]
/** Gives the text back as it can be written, and says whose it was where it could not be. */
type Whole = (text: string, whose: string) => string

export function withWholeCharacters({ turns, losses }: Turns): Turns {
  const found = [...losses]
  const written = turns.map((turn) => {
    const whole: Whole = (text, whose) => {
      if (text.isWellFormed()) return text
      found.push(loss("half_character", turn.messageId, whose))
      return text.toWellFormed()
    }
    return { ...turn, blocks: turn.blocks.map((block: Block) => wholeBlock(block, whole)) } as Turn
  })
  return { turns: written, losses: found }
}

function wholeBlock(block: Block, whole: Whole): Block {
  if (block.type === "call") return wholeCall(block, whole)
  if (block.type === "file") return wholeFile(block, whole)
  return { ...block, text: whole(block.text, block.type) }
}

function wholeFile(block: FileBlock, whole: Whole): FileBlock {
  const { data } = block.file
  if (!("text" in data)) return block
  return { ...block, file: { ...block.file, data: { ...data, text: whole(data.text, "file") } } }
}

/** Parameters that are no text are written as JSON in a text, where a half is spelled out. */
function wholeCall(block: CallBlock, whole: Whole): CallBlock {
  const { name, params, result } = block
  const call = { ...block, params: typeof params === "string" ? whole(params, name) : params }
  return result === undefined ? call : { ...call, result: wholeResult(result, whole, name) }
}

function wholeResult(result: CallResult, whole: Whole, name: string): CallResult {
  const content = result.content.map((piece) =>
    piece.type === "text" ? { ...piece, text: whole(piece.text, `the result of ${name}`) } : piece,
  )
  return { ...result, content }
}
