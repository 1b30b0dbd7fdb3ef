/**
 * The other ways in which the words of a query may have been written: what a reader of the language takes for the same
 * word, and what the index keeps apart because it knows no language. Only the query asks for more; the index is
 * unchanged.
 */
import { findWordSpans, queryTerms } from "../../sessions/words/terms/tokenizer.ts"
import { type HanVariants, hanVariantsFor } from "./han-variants.ts"

/** The terms of a query's other spellings, without `terms`, which are those of the query as it was typed. */
export async function otherSpellings(text: string, terms: readonly string[]): Promise<string[]> {
  const own = new Set(terms)
  const other = [...turkishTerms(text), ...polishTerms(text), ...shortStems(text), ...(await hanTerms(text))]
  return [...new Set(other)].filter((term) => !own.has(term))
}

/**
 * The large form of the Turkish dotless i is the large form of every other i, so that a word written large is indexed as
 * another word. A query in Turkish therefore asks for both.
 */
function turkishTerms(text: string): string[] {
  if (!/[ıİşŞğĞ]/.test(text)) return []
  const lower = text.toLowerCase()
  return [lower.replaceAll("ı", "i"), lower.replace(/i\u0307?/g, "ı")].flatMap((variant) => queryTerms(variant))
}

/** A Polish stem changes its nasal vowel with the ending: `ząb`, `zęby`; `ręka`, `rąk`. */
function polishTerms(text: string): string[] {
  if (!/[ąęĄĘ]/.test(text)) return []
  const lower = text.toLowerCase()
  return [lower.replaceAll("ą", "ę"), lower.replaceAll("ę", "ą")].flatMap((variant) => [
    ...queryTerms(variant),
    ...shortStems(variant),
  ])
}

const SHORT_WORD = { least: 4, most: 5, stem: 3 }
const LETTERS = /^\p{L}+$/u

/**
 * The index has stems of four letters and more, which leave out the short words that others are made from: `Züge` and
 * `bugs` ask for `zug` and `bug` too. Most such beginnings are no word and cost nothing; those that are, as `for` in
 * `form`, are so common that they count for nothing.
 */
function shortStems(text: string): string[] {
  const stems: string[] = []
  for (const { word } of findWordSpans(text))
    if (word.length >= SHORT_WORD.least && word.length <= SHORT_WORD.most && LETTERS.test(word))
      stems.push(word.slice(0, SHORT_WORD.stem))
  return stems
}

// --- Han ----------------------------------------------------------------------------------------------------------------

/** A query of more characters has enough words that are written alike. */
const HAN_TERMS_MAX = 200

async function hanTerms(text: string): Promise<string[]> {
  const variants = await hanVariantsFor(text)
  if (variants === undefined) return []
  const terms: string[] = []
  for (const [run] of text.matchAll(/\p{Script=Han}+/gu)) terms.push(...formsOfRun([...run], variants))
  return terms.slice(0, HAN_TERMS_MAX)
}

/** Each character and each two neighbours, as the index has them, in all of their forms. */
function formsOfRun(characters: readonly string[], { formsOf }: HanVariants): string[] {
  const forms = characters.map(formsOf)
  return forms.flatMap((own, at) => {
    const after = forms[at + 1] ?? []
    // A pair whose characters are written alike is in the query already.
    return [...own, ...own.flatMap((character) => after.map((next) => `${character}${next}`))]
  })
}
