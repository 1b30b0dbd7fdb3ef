/**
 * Characters that Chinese and Japanese write in several forms: 数, 數 and 数据, 數據 are the same words in simplified and
 * in traditional script. The tables are those of OpenCC, which are read when the first query with a Han character asks.
 * The index keeps what was written; a query asks for every form, and texts are compared in one of them.
 */

export interface HanVariants {
  /** Writes every character in the form that stands for all of them. Keeps the length of characters of one unit. */
  fold(text: string): string
  /** The forms of a character, itself included. */
  formsOf(character: string): readonly string[]
}

const HAN = /\p{Script=Han}/u
/** More forms of one character are rare ones, and each multiplies the pairs that a query asks for. */
const FORMS_MAX = 4

let loaded: Promise<HanVariants> | undefined

/** Undefined where the text has no Han character. */
export function hanVariantsFor(text: string): Promise<HanVariants | undefined> {
  if (!HAN.test(text)) return Promise.resolve(undefined)
  loaded ??= load()
  return loaded
}

/** Writes texts so that they compare with this query, whichever script each is in. */
export async function hanFolder(query: string): Promise<(text: string) => string> {
  return (await hanVariantsFor(query))?.fold ?? ((text) => text)
}

async function load(): Promise<HanVariants> {
  const [chinese, japanese] = await Promise.all([
    import("opencc-js/dict/TSCharacters"),
    import("opencc-js/dict/JPShinjitaiCharacters"),
  ])
  const simplified = readTable(chinese.default)
  const plain = new Map(simplified)
  // A Japanese form has the plain form of the character that it replaced: 気 and 氣 are 气.
  for (const [today, old] of readTable(japanese.default)) {
    const shared = simplified.get(old) ?? old
    if (today !== shared && !plain.has(today)) plain.set(today, shared)
  }
  const forms = new Map<string, string[]>()
  for (const [form, shared] of plain) forms.set(shared, [...(forms.get(shared) ?? [shared]), form])
  const foldOne = (character: string) => plain.get(character) ?? character
  return {
    fold: (text) => (HAN.test(text) ? Array.from(text, foldOne).join("") : text),
    formsOf: (character) => (forms.get(foldOne(character)) ?? [character]).slice(0, FORMS_MAX),
  }
}

/** `數 数|據 据`: a character and its other form; of several forms the first is the usual one. */
function readTable(text: string): Map<string, string> {
  return new Map(
    text.split("|").map((line): [string, string] => {
      const [from = "", to = ""] = line.split(" ")
      return [from, to]
    }),
  )
}
