/** Code in colours: spans with the classes of highlight.js, whose own output is escaped. Long code stays as it is. */
import { extname } from "node:path"
import { visible } from "../../../model/visible.ts"
import { escapeHtml } from "./escape.ts"

interface Highlighter {
  highlight(
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): { readonly value: string }
  getLanguage(name: string): object | undefined
}

// Its own types bring those of a browser with them, which contradict the ones of Bun all over the project.
const { default: hljs } = (await import("highlight.js/lib/common" as string)) as { readonly default: Highlighter }

/** 20,000 characters take 10 ms; a session may hold thousands of such texts. */
const CODE_UNITS_MAX = 20_000

/** A name of a language, or a path that ends as files of it do. */
export function highlight(code: string, name: string | undefined): string {
  const language = languageOf(name)
  if (language === undefined || code.length > CODE_UNITS_MAX) return escapeHtml(code)
  return hljs.highlight(visible(code), { language, ignoreIllegals: true }).value
}

function languageOf(name: string | undefined): string | undefined {
  const word = (name ?? "").includes(".") || (name ?? "").includes("/") ? extname(name ?? "").slice(1) : (name ?? "")
  const language = word.toLowerCase()
  return language !== "" && hljs.getLanguage(language) !== undefined ? language : undefined
}
