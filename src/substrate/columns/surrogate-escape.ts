/**
 * Escapes lone surrogates, which UTF-8 cannot hold. A JavaScript string is a sequence of UTF-16 code units, and clients cut
 * strings in the middle of an emoji; the engine would turn the half into U+FFFD. It is stored as an escape character and a
 * private one, and the escape character itself as two (FORMAT.md, section 4).
 */

/** A noncharacter: no text of anyone's has a reason to hold it, and text that does comes back all the same. */
const ESCAPE = "\u{10FFFE}"
const PRIVATE_BASE = 0xe000
const SURROGATE_BASE = 0xd800
const LONE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g
const ESCAPED = /\u{10FFFE}([\uE000-\uE7FF]|\u{10FFFE})/gu

/** As nearly every text is. */
export function isStoredAsItIs(text: string): boolean {
  return text.isWellFormed() && !text.includes(ESCAPE)
}

export function storedText(text: string): string {
  if (isStoredAsItIs(text)) return text
  return text
    .replaceAll(ESCAPE, ESCAPE + ESCAPE)
    .replace(LONE, (half) => ESCAPE + String.fromCharCode(half.charCodeAt(0) - SURROGATE_BASE + PRIVATE_BASE))
}

export function originalText(stored: string): string {
  if (!stored.includes(ESCAPE)) return stored
  return stored.replace(ESCAPED, (_, mark: string) =>
    mark === ESCAPE ? ESCAPE : String.fromCharCode(mark.charCodeAt(0) - PRIVATE_BASE + SURROGATE_BASE),
  )
}
