/** What somebody said, as HTML: Markdown whose HTML is shown as text, links that lead to the web, and no picture from there. */
import { escapeHtml, isSafeLink, unescapeHtml } from "./escape.ts"
import { highlight } from "./highlight.ts"

const OPTIONS = { noHtmlBlocks: true, noHtmlSpans: true, autolinks: { url: true, www: false, email: false } } as const

export function markdownHtml(text: string): string {
  return Bun.markdown.render(text, RENDERERS, OPTIONS)
}

const tag = (name: string) => (children: string) => `<${name}>${children}</${name}>`

/** Of a list of tasks. */
const BOXES: Readonly<Record<string, string>> = { true: "☑ ", false: "☐ " }

const RENDERERS: NonNullable<Parameters<typeof Bun.markdown.render>[1]> = {
  text: escapeHtml,
  // Whatever the parser takes for HTML all the same is text here, and was escaped as such.
  html: (children) => children,
  heading: (children, { level }) => `<h${Math.min(6, level + 2)}>${children}</h${Math.min(6, level + 2)}>\n`,
  paragraph: (children) => `<p>${children}</p>\n`,
  blockquote: (children) => `<blockquote>${children}</blockquote>\n`,
  list: (children, { ordered, start }) => {
    if (!ordered) return `<ul>${children}</ul>\n`
    return `<ol${start === undefined || start === 1 ? "" : ` start="${Math.trunc(start)}"`}>${children}</ol>\n`
  },
  listItem: (children, meta) => `<li>${BOXES[String(meta?.checked)] ?? ""}${children}</li>\n`,
  code: (children, meta) => codeBlock(unescapeHtml(children), meta?.language),
  hr: () => "<hr>\n",
  table: (children) => `<table>${children}</table>\n`,
  thead: tag("thead"),
  tbody: tag("tbody"),
  tr: tag("tr"),
  th: tag("th"),
  td: tag("td"),
  strong: tag("strong"),
  emphasis: tag("em"),
  strikethrough: tag("del"),
  codespan: tag("code"),
  link: (children, { href }) =>
    isSafeLink(href) ? `<a href="${escapeHtml(href)}" rel="noopener noreferrer nofollow">${children}</a>` : children,
  // Loading it would tell its server that the page was opened.
  image: (children, { src }) => `[${children === "" ? "image" : children}: ${escapeHtml(src)}]`,
}

export function codeBlock(code: string, language?: string): string {
  return `<pre><code>${highlight(code.replace(/\n$/, ""), language)}</code></pre>\n`
}
