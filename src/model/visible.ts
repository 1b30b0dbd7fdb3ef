/**
 * Text of a transcript, made safe to print: whatever could move the cursor, recolour the screen, set the title or turn
 * the direction of reading is shown as a sign of itself. Line feeds and tabs stay.
 */
const HIDDEN = new RegExp(
  [
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f]", // C0 but for tab and line feed, and DEL
    "[\\u0080-\\u009f]", // C1: the 8-bit forms of the same
    "[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]", // direction of reading
    "[\\u2028\\u2029\\ufeff\\u{e0000}-\\u{e007f}]", // line separators, byte order mark, tags
    "\\p{Cs}", // half a surrogate pair
  ].join("|"),
  "gu",
)

const CONTROL_PICTURES = 0x2400
const DELETE = 0x7f

export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, (hidden) => {
    const code = hidden.codePointAt(0) ?? 0
    if (code < 0x20) return String.fromCodePoint(CONTROL_PICTURES + code)
    if (code === DELETE) return "\u2421"
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`
  })
}

/** The same on one line, for a cell of a table. */
export function visibleLine(text: string): string {
  return visible(text).replace(/\s+/g, " ").trim()
}
