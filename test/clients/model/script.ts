/**
 * What the model says, turn by turn. A prompt names its script as `[[script:NAME]]` (or `[[scn:NAME]]`, as sessions that
 * exist already have it). Texts are of many scripts, with quotes and tags in them, because that is what breaks codecs.
 */

/** What a turn asks the client to do; `tools.ts` says it in the words of the tools that the client offers. */
export type Deed =
  | { readonly kind: "shell"; readonly command: string }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  | { readonly kind: "edit"; readonly path: string; readonly before: string; readonly after: string }
  | { readonly kind: "agent"; readonly description: string; readonly prompt: string }
  | { readonly kind: "wait" }
  /** Asks for tools that a client has and does not offer at once. */
  | { readonly kind: "discover"; readonly query: string }
  /** A list of what is to be done, the first of it done already. */
  | { readonly kind: "plan"; readonly items: readonly string[] }
  /** A tool of an MCP server. `$ID` in a parameter is the first session id that a result named. */
  | { readonly kind: "mcp"; readonly tool: string; readonly params: Readonly<Record<string, unknown>> }

export interface Turn {
  readonly reasoning?: string
  readonly text?: string
  readonly deeds?: readonly Deed[]
  readonly usage?: { readonly input: number; readonly output: number; readonly cached: number }
}

export const SUMMARY =
  "SUMMARY-TEXT 要約: there was work with markers, tools were called and answers were given. Next: wait for the user."
export const TITLE = "A scripted session 題名"

const LONG_BYTES = 200 * 1024

function longText(): string {
  const line = 'the quick brown fox — 素早い茶色の狐 — الثعلب البني — `code` <tag> & "quotes" \\ back\\slash'
  const lines = ["LONG-ANSWER-BEGIN 長い回答 🐘"]
  for (let bytes = 0; bytes < LONG_BYTES; bytes += Buffer.byteLength(line) + 10) lines.push(`${lines.length}: ${line}`)
  return [...lines, "LONG-ANSWER-END"].join("\n")
}

/** Files of the scripts whose work git blames. */
export const BLAMED = {
  legacy: [
    "/** Prices, as they always were. */",
    "export const LIMIT = 10",
    "",
    "export function price(cents: number): string {",
    '  return (cents / 100).toFixed(2) + " EUR"',
    "}",
    "",
    "export function isCheap(cents: number): boolean {",
    "  return cents < LIMIT",
    "}",
    "",
  ].join("\n"),
  cart: [
    "interface Item {",
    "  readonly name: string",
    "  readonly cents: number",
    "}",
    "",
    "export function total(items: readonly Item[]): number {",
    "  let sum = 0",
    "  for (const item of items) {",
    "    sum += item.cents",
    "  }",
    "  return sum",
    "}",
    "",
    "export function names(items: readonly Item[]): string[] {",
    "  return items.map((item) => item.name)",
    "}",
    "",
  ].join("\n"),
  /** The cart with what a person changed meanwhile, and more. */
  revised: [
    "interface Item {",
    "  readonly name: string",
    "  readonly cents: number",
    "  readonly quantity: number",
    "}",
    "",
    "export function total(items: readonly Item[]): number {",
    "  let sum = 0",
    "  for (const item of items) {",
    "    sum += item.cents * item.quantity",
    "  }",
    "  // A person rounds here.",
    "  return Math.round(sum)",
    "}",
    "",
    "export function names(items: readonly Item[]): string[] {",
    "  return items.map((item) => item.name)",
    "}",
    "",
    "export function count(items: readonly Item[]): number {",
    "  return items.reduce((all, item) => all + item.quantity, 0)",
    "}",
    "",
  ].join("\n"),
  /** Written over the old file by an agent that has seen its name alone, and knows some of its lines all the same. */
  careless: [
    "/** Prices, as they always were. */",
    "export const LIMIT = 12",
    'export const CURRENCY = "EUR"',
    "",
    "export function price(cents: number): string {",
    "  return (cents / 100).toFixed(2) + CURRENCY",
    "}",
    "",
    "export function isCheap(cents: number): boolean {",
    "  return cents < LIMIT",
    "}",
    "",
  ].join("\n"),
} as const

export const SCRIPTS: Readonly<Record<string, readonly Turn[]>> = {
  plain: [
    {
      reasoning: "PLAIN-THOUGHT a greeting; 挨拶を返す。",
      text: "PLAIN-ANSWER こんにちは 🌸 — مرحبا بالعالم — שלום. Done.",
      usage: { input: 1234, output: 56, cached: 1000 },
    },
  ],
  // oh-my-pi gives a server a quarter of a second before it asks its model the first time, and offers its tools from then on.
  discover: [
    { text: "waiting for servers", deeds: [{ kind: "shell", command: "sleep 5" }] },
    { text: "looking for tools", deeds: [{ kind: "discover", query: "pond" }] },
    { text: "looked" },
  ],
  plain2: [{ reasoning: "PLAIN2-THOUGHT a second turn.", text: "PLAIN2-ANSWER and on it goes. 続き ✅" }],
  plain3: [{ reasoning: "PLAIN3-THOUGHT a third turn.", text: "PLAIN3-ANSWER resumed once more. 三回目 ③" }],
  forked: [{ reasoning: "FORK-THOUGHT the other branch.", text: "FORK-ANSWER said on the fork alone. 分岐 🍴" }],
  long: [{ reasoning: "LONG-THOUGHT", text: longText(), usage: { input: 2000, output: 60_000, cached: 0 } }],
  image: [{ reasoning: "IMAGE-THOUGHT", text: "IMAGE-ANSWER one small picture 🖼️." }],
  tools: [
    {
      reasoning: "TOOLS-THOUGHT-0 look around first.",
      text: "TOOLS-TEXT-0 The files first. ファイル一覧。",
      deeds: [{ kind: "shell", command: 'echo "out-ünïcode 日本語 🚀"; ls -1; echo err-line >&2' }],
    },
    {
      reasoning: "TOOLS-THOUGHT-1 three at once, and one of them fails.",
      deeds: [
        { kind: "shell", command: 'printf "parallel-A\\n\\ttabbed \\"quoted\\"\\n"' },
        { kind: "read", path: "README.md" },
        { kind: "shell", command: "echo about-to-fail; ls /no/such/dir; exit 3" },
      ],
    },
    {
      reasoning: "TOOLS-THOUGHT-2 write.",
      text: "TOOLS-TEXT-2 Writing a note.",
      deeds: [{ kind: "write", path: "ノート note.txt", content: "first line\n二行目 🎌\nshalom שלום\n" }],
    },
    { deeds: [{ kind: "edit", path: "ノート note.txt", before: "first line", after: "FIRST line (edited) ✏️" }] },
    {
      reasoning: "TOOLS-THOUGHT-4 a file that is not there.",
      text: "TOOLS-TEXT-4 Now a read that must fail.",
      deeds: [{ kind: "read", path: "does-not-exist.txt" }],
    },
    { deeds: [{ kind: "shell", command: "seq 1 400" }] },
    {
      reasoning: "TOOLS-THOUGHT-6 that was all.",
      text: "TOOLS-ANSWER listed, three at once, written, edited, not found. 完了 🎉",
      usage: { input: 9000, output: 321, cached: 7000 },
    },
  ],
  sub: [
    {
      reasoning: "SUB-THOUGHT delegate.",
      text: "SUB-TEXT A sub-agent shall do this.",
      deeds: [
        {
          kind: "agent",
          description: "Count files",
          prompt: "[[script:subwork]] SUB-PROMPT count the files of this directory. 数えて。",
        },
      ],
    },
    { reasoning: "SUB-THOUGHT-1", deeds: [{ kind: "wait" }] },
    { text: "SUB-ANSWER the sub-agent has reported. 委任完了 🤝" },
  ],
  subwork: [
    {
      reasoning: "SUBWORK-THOUGHT",
      text: "SUBWORK-TEXT counting.",
      deeds: [{ kind: "shell", command: "ls -1 | wc -l" }],
    },
    { text: "SUBWORK-ANSWER there are some files. 数えました。" },
  ],
  plan: [
    {
      reasoning: "PLAN-THOUGHT in order.",
      text: "PLAN-TEXT First a list. 一覧",
      deeds: [{ kind: "plan", items: ["look around 見る", "write it down", 'say "done"'] }],
    },
    { text: "PLAN-ANSWER the list stands. 計画完了 📝" },
  ],
  big: [
    {
      reasoning: "BIG-THOUGHT",
      text: "BIG-ANSWER a turn that says of itself that it fills the context. 大きい",
      usage: { input: 190_000, output: 900, cached: 0 },
    },
  ],
  recall: [
    {
      text: "RECALL-TEXT I ask my memory.",
      deeds: [{ kind: "mcp", tool: "pond_search", params: { query: "velociraptor pastry" } }],
    },
    { deeds: [{ kind: "mcp", tool: "pond_get", params: { session_id: "$ID" } }] },
    { text: "RECALL-ANSWER I remember. 思い出した" },
  ],
  author: [
    { text: "AUTHOR-TEXT a cart.", deeds: [{ kind: "write", path: "cart.ts", content: BLAMED.cart }] },
    { deeds: [{ kind: "read", path: "legacy.ts" }] },
    {
      deeds: [
        {
          kind: "edit",
          path: "legacy.ts",
          before: "  return cents < LIMIT",
          after: "  const isFree = cents === 0\n  return isFree || cents < LIMIT",
        },
      ],
    },
    { text: "AUTHOR-ANSWER the cart stands." },
  ],
  reviser: [
    { deeds: [{ kind: "read", path: "cart.ts" }] },
    { text: "REVISER-TEXT quantities.", deeds: [{ kind: "write", path: "cart.ts", content: BLAMED.revised }] },
    {
      deeds: [
        { kind: "write", path: "notes.md", content: "# Notes\n\nThe cart knows quantities.\n" },
        {
          kind: "shell",
          command: "cat > helper.ts <<'END'\nexport function helper(): string {\n  return \"helped\"\n}\nEND",
        },
      ],
    },
    { text: "REVISER-ANSWER done." },
  ],
  careless: [
    { deeds: [{ kind: "shell", command: "ls -1" }] },
    { text: "CARELESS-TEXT over it.", deeds: [{ kind: "write", path: "legacy.ts", content: BLAMED.careless }] },
    { text: "CARELESS-ANSWER done." },
  ],
  delegate: [
    {
      text: "DELEGATE-TEXT somebody else.",
      deeds: [
        {
          kind: "agent",
          description: "Write the report",
          prompt: "[[script:subauthor]] write the report of the work.",
        },
      ],
    },
    { deeds: [{ kind: "wait" }] },
    { text: "DELEGATE-ANSWER it is written." },
  ],
  subauthor: [
    {
      text: "SUBAUTHOR-TEXT a report.",
      deeds: [
        {
          kind: "write",
          path: "report.md",
          content: "# Report\n\nThe sub-agent wrote this line.\nAnd this one, too.\n",
        },
      ],
    },
    { text: "SUBAUTHOR-ANSWER reported." },
  ],
}
