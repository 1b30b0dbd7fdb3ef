/**
 * The elements of a JSON array that is too large to be held: an export of an account is one array with a session in each
 * element. Counts brackets outside of strings, a piece of bytes at a time, and parses nothing. No more than one element is held.
 */

export interface ArrayElement {
  /** Where its bytes begin and end. */
  readonly from: number
  readonly to: number
  /** Absent where there are too many to be held. */
  readonly bytes: Uint8Array | undefined
}

export interface ArrayEnd {
  /** Whether the array was closed. */
  readonly isWhole: boolean
}

/** What a session may have. A value of a larger one could not be held as text. */
export const ELEMENT_BYTES_MAX = 256 << 20

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT] = [34, 92, 91, 93, 123]
/** An array may stand under the one key of an object. */
const WRAPPED = /^\ufeff?\s*\{\s*"conversations"\s*:\s*\[/

/** Objects and lists of the array. A file that is one object is its only element. */
export async function* arrayElements(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<ArrayElement, ArrayEnd> {
  const brackets = createBrackets()
  const held = createHeld()
  let at = 0
  let from = 0
  for await (const piece of pieces) {
    let start = brackets.isInElement() ? 0 : -1
    for (let index = brackets.next(piece, 0); index < piece.length; index = brackets.next(piece, index + 1)) {
      const met = brackets.take(piece, index)
      if (met === "begin") [start, from] = [index, at + index]
      if (met !== "end" || start < 0) continue
      held.add(piece.subarray(start, index + 1))
      start = -1
      yield { from, to: at + index + 1, bytes: held.take() }
    }
    if (start >= 0) held.add(piece.slice(start))
    at += piece.length
  }
  return { isWhole: brackets.isClosed() }
}

interface Brackets {
  /** Where the next bracket outside of a string stands, from an index on. */
  next(piece: Uint8Array, from: number): number
  /** What the bracket at an index does to the elements. */
  take(piece: Uint8Array, index: number): "begin" | "end" | undefined
  isInElement(): boolean
  isClosed(): boolean
}

function createBrackets(): Brackets {
  let [depth, top] = [0, -1]
  let [isString, isEscaped, isClosed] = [false, false, false]

  function afterString(piece: Uint8Array, from: number): number {
    let index = from
    for (; index < piece.length && isString; index++) {
      const byte = piece[index]
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH) isEscaped = true
      else isString = byte !== QUOTE
    }
    return index
  }

  return {
    next(piece, from) {
      let index = afterString(piece, from)
      while (index < piece.length) {
        const byte = piece[index] as number
        // Brackets of lists and objects differ in this bit alone.
        const folded = byte & 0xdf
        if (folded === OPEN_LIST || folded === CLOSE_LIST) return index
        isString = byte === QUOTE
        index = afterString(piece, index + 1)
      }
      return index
    },
    take(piece, index) {
      const byte = piece[index] as number
      if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        if (top < 0) top = topDepth(piece, byte)
        return depth++ === top ? "begin" : undefined
      }
      depth--
      isClosed ||= depth === 0
      return depth === top ? "end" : undefined
    },
    isInElement: () => top >= 0 && depth > top,
    isClosed: () => isClosed,
  }
}

/** How deep the elements stand: in an array, in an array under a key, or not at all. */
function topDepth(first: Uint8Array, opening: number): number {
  if (opening === OPEN_LIST) return 1
  return WRAPPED.test(Buffer.from(first.subarray(0, 256)).toString("utf8")) ? 2 : 0
}

function createHeld() {
  let pieces: Uint8Array[] = []
  let bytes = 0
  return {
    add(piece: Uint8Array): void {
      bytes += piece.length
      if (bytes > ELEMENT_BYTES_MAX) pieces = []
      else pieces.push(piece)
    },
    take(): Uint8Array | undefined {
      const all = bytes > ELEMENT_BYTES_MAX ? undefined : Buffer.concat(pieces)
      pieces = []
      bytes = 0
      return all
    },
  }
}
