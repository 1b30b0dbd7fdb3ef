/** The head and the foot of every exported page, with a policy that allows its own style and script, by their hashes, and nothing else. */
import { escapeHtml } from "./escape.ts"
import { INDEX_SCRIPT, INDEX_STYLE, PAGE_SCRIPT, PAGE_STYLE } from "./page-style.ts"

interface PageKind {
  readonly style: string
  readonly script: string
}

export const SESSION_PAGE: PageKind = { style: PAGE_STYLE, script: PAGE_SCRIPT }
export const INDEX_PAGE: PageKind = { style: INDEX_STYLE, script: INDEX_SCRIPT }

export function openPage(title: string, { style, script }: PageKind): string {
  const policy = [
    "default-src 'none'",
    `style-src ${sha256(style)}`,
    `script-src ${sha256(script)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ")
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="pond">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
`
}

export function closePage(note: string, { script }: PageKind): string {
  return `<footer>${escapeHtml(note)}</footer>\n<script>${script}</script>\n</body>\n</html>\n`
}

function sha256(text: string): string {
  return `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`
}
