/**
 * What stands in a message stays in it: judged by a parser of Markdown, for the cases that are known to get out of a careless
 * writer, and for random ones made of the same pieces. A failure prints the seed.
 */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { escapeMarkdown } from "../../../src/operations/share/escape-markdown.ts"
import {
  collapse,
  escapeInline,
  fence,
  indent,
  inlineCode,
  listItem,
} from "../../../src/operations/share/markdown-blocks.ts"
import { SEED } from "../../support/seed.ts"

const html = (markdown: string) => Bun.markdown.html(markdown, { autolinks: true })

/** A document that has the text at every place a text can have, and what a reader must see of it. */
function documentOf(text: string, other: string): string {
  return [
    `# ${escapeInline(text)}\n\n*   About: ${inlineCode(text)}\n\n---\n`,
    listItem("**ONE**"),
    indent(escapeMarkdown(text)),
    indent(collapse(text, text, [fence(text, "json"), escapeMarkdown(text)])),
    indent(escapeMarkdown(other)),
    listItem("**TWO**"),
    indent(escapeMarkdown(other)),
    "\n## END\n",
  ].join("")
}

/** Everything that got out of its place. */
function escapesOf(text: string, other = text): string[] {
  const page = html(documentOf(text, other))
  const outsideCode = page.replace(/<code[^>]*>[\s\S]*?<\/code>/g, "")
  const depths: number[] = []
  let depth = 0
  for (const [, close, tag, voice] of page.matchAll(
    /<(\/?)(ul|ol|blockquote|table|details)\b[^>]*>|<strong>(ONE|TWO)<\/strong>/g,
  )) {
    if (voice !== undefined) depths.push(depth)
    if (tag !== undefined) depth += close === "/" ? -1 : 1
  }
  return [
    ...(/<\/?zz|<!|<\?/i.test(outsideCode) ? ["HTML of the text is HTML of the page"] : []),
    ...(page.match(/<\/?details>/g)?.join("") === "<details></details>" ? [] : ["another fold"]),
    ...(depths.join() === "1,1" ? [] : [`voices at the depths ${depths.join()}`]),
    ...(/<h2[^>]*>END<\/h2>\s*$/.test(page) ? [] : ["the end is in something"]),
    ...(/<img/i.test(outsideCode) ? ["an image is shown"] : []),
    ...(page.includes('href="/zz') ? ["a link is defined for all"] : []),
  ]
}

describe("nothing gets out", () => {
  test.each([
    ["a fence that is left open", "```\nx"],
    ["a longer fence", "````\n```\nx"],
    ["a fence of tildes, left open", "~~~~ js\nx"],
    ["a fence in the item of a list", "- ```js\n  <zz>\n"],
    ["a fence deep in a list, left open", "1. a\n   - b\n\n     ```\n     <zz>"],
    ["a fence whose lines leave the list that it is in", "- a\n  ```\n<zz>\n  ```"],
    ["a fence behind a paragraph, so far in that it goes on", "word\n      ```\n      <zz>\n      ```\n</details>"],
    ["a fence in an item of an item", "- - ~~~\n    x\n    ~~~\n    <zz>"],
    ["a fence in a quotation", "> ```\n</details>"],
    ["the end of a fold", "done</details>\n\n</details>"],
    ["HTML on lines of its own", "<zz>\n\n</zz>"],
    ["a comment that is left open", "<!-- all that follows"],
    ["a processing instruction", "<?zz"],
    ["code that goes on into the next line", "a ` b\n`<zz>`"],
    ["code behind an escaped backtick", "\\`<zz>`"],
    ["code that a cell of a table cuts", "| a | b |\n|---|---|\n| `x | y` z `<zz>` |"],
    ["a backtick in the address of a link", "[a](x`y) <zz>`"],
    ["a backtick in the title of a link", '[a](x "ti`tle") <zz>`'],
    ["the definition of a link", "[word]: /zz\n\n[word]"],
    ["a heading like ours", "## END\n\n-   **User**"],
    ["a title of several lines", "a\n\n## b"],
    ["carriage returns", "a\r\r## b\r```\r"],
  ])("%s", (_, text) => {
    expect(escapesOf(text, "[word] then")).toEqual([])
    expect(escapesOf("then", text)).toEqual([])
  })

  // GitHub's parser gives the address everything up to the next space, and so the backtick or the backslash too.
  test.each([
    ["a backtick behind a bare address", "see http://a.b/`<zz>`", "see http://a.b/`&lt;zz>`"],
    ["an escaped bracket in a bare address", "http://a.b/\\<zz>", "http://a.b/&lt;zz>"],
  ])("%s", (_, text, written) => expect(escapeMarkdown(text)).toEqual([written]))

  const PIECES = [
    ..."`|~<>\\-*+#[]()!&$'\"=_".split(""),
    ...["``", "```", "````", "~~~", "~~~~", "```js", "- ```", "1. ~~~", "2) ```", "~~~ `", "```<zz>"],
    ...["<zz>", "</zz>", '<zz a="`">', "<details>", "</details>", "<!-- zz", "-->", "<?zz", "<![CDATA[", "&lt;zz>"],
    ...["| a | b |", "|---|---|", ":-", "- ", "1. ", "> ", "    ", "  ", "\t", " ", "\n", "\n\n", "## Z", "===", "---"],
    ...[
      "[a]: /zz",
      "[a]",
      "![",
      "![zz](http://zz/i.png)",
      "\\![zz](http://zz/i.png)",
      "](",
      "](x 't",
      "](<",
      "[^1]: zz",
      "<https://a.b/c>",
      "http://a.b/",
      "www.x.y",
      "word",
      "a b",
    ],
    ...["\r", "\r\n", "\u00a0", "\u2028", "\u0000", "\ud800", "- [ ] ", "     "],
  ]
  const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(""))
  const RUNS = Number(process.env["POND_PROPERTY_RUNS"] ?? 1500)

  test(`a random text (POND_SEED=${SEED})`, () => {
    const property = fc.property(texts, texts, (text, other) => expect(escapesOf(text, other)).toEqual([]))
    fc.assert(property, { seed: SEED, numRuns: RUNS })
  })
})

describe("what is harmless reads as it was meant", () => {
  const shown = (text: string) => html(escapeMarkdown(text).join("\n"))

  test.each([
    ["code that names a type", "Use `Array<string>` here", "<p>Use <code>Array&lt;string&gt;</code> here</p>"],
    ["code of one or several lines", "```tsx\n<div>\n</div>\n```", "&lt;div&gt;\n&lt;/div&gt;"],
    [
      "a fence in a list",
      "1. a\n   ```sh\n   npm i <x>\n   ```\n2. b",
      "npm i &lt;x&gt;\n</code></pre>\n</li>\n<li>b</li>",
    ],
    ["a fence in an item", "- ```js\n  <x>\n  ```\n- b", "&lt;x&gt;\n</code></pre>\n</li>\n<li>"],
    ["a table", "| a |\n|---|\n| `x<y>` |", "<td><code>x&lt;y&gt;</code></td>"],
    ["an image, as a link", "![a](http://zz/i.png)", '!<a href="http://zz/i.png">a</a>'],
    ["an image in code", "`![a](b)`", "<code>![a](b)</code>"],
    ["a link", "[`a<b>`](https://x.y/z)", '<a href="https://x.y/z"><code>a&lt;b&gt;</code></a>'],
    ["an address in brackets", "<https://a.b>", '<a href="https://a.b">https://a.b</a>'],
    ["a sign that is no tag", "1 < 2 and a <- b", "<p>1 &lt; 2 and a &lt;- b</p>"],
    ["a tag, as text", "the <div> tag", "<p>the &lt;div&gt; tag</p>"],
    ["a word in brackets before a colon", "[INFO]: done", "<p>[INFO]: done</p>"],
  ])("%s", (_, text, wanted) => expect(shown(text)).toContain(wanted))

  test("a control character is shown as a sign, in text and in code", () => {
    expect(escapeMarkdown("a\u001b[31mb\n\n```\n\u0007\n```")).toEqual(["a␛[31mb", "", "```", "␇", "```"])
  })

  test("a text of nothing but space is nothing", () => {
    expect(escapeMarkdown("\n \t\n")).toEqual([])
  })
})

test("a name says itself in a heading, in code and in a fold", () => {
  for (const name of ["a*b*_c_ #", "</summary>", "x`y``z", "$a$ [b](c) ![d] | e", "https://a.b www.c.d", "1. - > a"]) {
    const page = html(`# ${escapeInline(name)}\n\n* x: ${inlineCode(name)}\n\n${collapse(name, name, []).join("\n")}\n`)
    const text = Bun.escapeHTML(name).replaceAll("&#x27;", "'")
    expect(page).toContain(`>${text}</h1>`)
    expect(page).toContain(`<code>${text}</code></li>`)
    expect(page).toContain(`<summary>${text} <code>${text}</code></summary>`)
  }
})
