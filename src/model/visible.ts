/**
 * Text of a transcript, made safe to print: whatever could move the cursor, recolour the screen, set the title, turn the
 * direction of reading, or be read by a model and by nobody else, is shown as a visible symbol. Line feeds and tabs stay.
 */

/** What joins or parts two letters of some scripts, or the signs of an emoji, is part of the text there. */
const JOINED = "[[[\\p{L}\\p{M}]--\\p{Script=Latin}]\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f]"
const HIDDEN = new RegExp(
  [
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f]", // C0 but for tab and line feed, and DEL
    "[\\u0080-\\u009f]", // C1: the 8-bit forms of the same
    "[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]", // direction of reading
    "[\\u2028\\u2029\\ufeff\\u{e0000}-\\u{e0fff}]", // line separators, byte order mark, tags and selectors of variants
    "[\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u2060-\\u2065\\u3164\\uffa0\\ufff9-\\ufffb]", // without a width
    `(?<!${JOINED})[\\u200c\\u200d]|[\\u200c\\u200d](?!${JOINED})`,
    "(?<![\\p{Emoji}\\p{Script=Han}])[\\ufe00-\\ufe0f]",
    "\\p{Cs}", // half a surrogate pair
  ].join("|"),
  "gv",
)

/** Text of characters that are never hidden: nearly all there is. Its class costs no milliseconds to compile, as the other does. */
const PLAIN =
  /^[\t\n\u0020-\u007e\u00a1-\u00ac\u00ae-\u034e\u0370-\u05ff\u2010-\u2027\u2030-\u205e\u2190-\u2bff\u3001-\u3163\u4e00-\u9fff\uac00-\ud7a3]*$/

const CONTROL_PICTURES = 0x2400
const DELETE = 0x7f

export function visible(text: string): string {
  if (PLAIN.test(text)) return text
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

/**
 * Stored text as lines that begin with `|`, which no line that pond adds does: whatever it says, a model can tell it from
 * what pond says. What cannot be seen is shown, because it would be read all the same.
 */
export function quoteLines(text: string, indent = ""): string[] {
  if (text === "") return []
  const lines = visible(text).split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines.map((line) => (line === "" ? `${indent}|` : `${indent}| ${line}`))
}

/** Lossless: the same document, with what cannot be seen as escapes. */
export function visibleJson(json: string): string {
  const spell = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  return json.replace(HIDDEN, (hidden) => hidden.split("").map(spell).join(""))
}
