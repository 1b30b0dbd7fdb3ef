/**
 * The page at `/`: three files, which hold nothing that is stored and need no token. What they show, the browser asks of the
 * published operations. The policy lets the page load and run its own files alone, and send requests to this server alone.
 */
import { MESSAGE_STYLE, THEME_STYLE } from "../operations/share/html/page-style.ts"
import { VERSION } from "../platform/host/version.ts"
import { lazy } from "../platform/lazy.ts"
import { pageAssets } from "./page-assets.ts"

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="none" stroke="#2a7fd4" stroke-width="1.6"><circle cx="8" cy="8" r="2"/><circle cx="8" cy="8" r="4.6"/><circle cx="8" cy="8" r="7.2"/></g></svg>`

const DOCUMENT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="generator" content="pond ${VERSION}">
<title>pond</title>
<link rel="icon" href="/page/icon.svg">
<link rel="stylesheet" href="/page/style.css">
<script type="module" src="/page/main.js"></script>
</head>
<body><div id="app"></div><noscript>This page needs JavaScript. <code>pond list</code> and <code>pond get</code> show the same in a terminal.</noscript></body>
</html>
`

interface PageFile {
  readonly type: string
  readonly text: () => Promise<string>
}

const assets = lazy(pageAssets)

const FILES: Readonly<Record<string, PageFile>> = {
  "/": { type: "text/html; charset=utf-8", text: async () => DOCUMENT },
  "/page/main.js": { type: "text/javascript; charset=utf-8", text: async () => (await assets()).script },
  "/page/style.css": {
    type: "text/css; charset=utf-8",
    text: async () => `${THEME_STYLE}${MESSAGE_STYLE}${(await assets()).style}`,
  },
  "/page/icon.svg": { type: "image/svg+xml", text: async () => ICON },
}

export const PAGE_PATHS: readonly string[] = Object.keys(FILES)

/** Compressed where the browser takes it so: the script is a tenth of a megabyte, and may come over a slow line. */
export async function pageFile(path: string, request: Request): Promise<Response> {
  const file = FILES[path]
  if (file === undefined) return new Response(null, { status: 404 })
  const headers = { ...HEADERS, "content-type": file.type, vary: "accept-encoding" }
  const text = await file.text()
  if (!(request.headers.get("accept-encoding") ?? "").includes("gzip")) return new Response(text, { headers })
  return new Response(Bun.gzipSync(Buffer.from(text)), { headers: { ...headers, "content-encoding": "gzip" } })
}
