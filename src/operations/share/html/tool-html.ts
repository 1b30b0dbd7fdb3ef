/** One tool call with its result, folded: what was run, read or changed on one side, and what came of it on the other. */

import { structuredPatch } from "diff"
import { parsePatch } from "../../../adapters/shared/patches.ts"
import { resultContent } from "../../../adapters/shared/translate.ts"
import { type NeutralTool, readTool, type Vocabulary } from "../../../adapters/shared/vocabulary.ts"
import { isJsonObject, type JsonObject, type JsonValue } from "../../../model/json.ts"
import { bytesText } from "../../../model/numbers.ts"
import type { ToolCallPart, ToolResultPart } from "../../../model/session.ts"
import { visibleLine } from "../../../model/visible.ts"
import type { Answer } from "../pair-results.ts"
import { escapeHtml } from "./escape.ts"
import { highlight } from "./highlight.ts"
import { codeBlock } from "./markdown-html.ts"

export interface ToolLook {
  readonly clean: (text: string) => string
  readonly vocabulary: Vocabulary | undefined
}

interface Shown {
  /** On the line that is seen while the call is folded. */
  readonly note: string
  readonly input: string
  /** Whether the result says nothing that the input does not show. */
  readonly isWholeStory?: boolean
}

const NOTE_UNITS = 120
const RESULT_UNITS_MAX = 200_000
const PICTURES = /^image\/(?:png|jpeg|gif|webp)$/
const BASE64 = /^[A-Za-z0-9+/=\s]+$/

export function toolHtml(call: ToolCallPart, answer: Answer | undefined, took: string, look: ToolLook): string {
  const params = cleanValue(call.params as JsonValue, look.clean)
  const tool = look.vocabulary === undefined ? undefined : readTool(look.vocabulary, call.name, params)?.tool
  const {
    note,
    input,
    isWholeStory = false,
  } = (tool === undefined ? undefined : showTool(tool, look)) ?? showParams(params, look)
  const isFailed = answer?.result.is_failure === true
  const outcome = isFailed ? "failed" : ""
  const state = answer === undefined ? "no result" : outcome
  const head = [
    `<b>${escapeHtml(visibleLine(look.clean(call.name)))}</b>`,
    `<code>${escapeHtml(cut(visibleLine(note)))}</code>`,
    state === "" ? "" : `<em>${state}</em>`,
    took === "" ? "" : `<small>${escapeHtml(took)}</small>`,
  ]
  const result = answer === undefined || (isWholeStory && !isFailed) ? "" : resultHtml(answer.result, look)
  const sides = result === "" ? input : `<div class="sides"><div>${input}</div><div>${result}</div></div>`
  return `<details class="tool${isFailed ? " failed" : ""}"><summary>${head.filter(Boolean).join(" ")}</summary>${sides}</details>\n`
}

function cut(text: string): string {
  const signs = [...text]
  return signs.length <= NOTE_UNITS ? text : `${signs.slice(0, NOTE_UNITS - 1).join("")}…`
}

// --- Inputs ------------------------------------------------------------------------------------------------------------

function showTool({ kind, fields }: NeutralTool, look: ToolLook): Shown | undefined {
  const text = (name: string) => (typeof fields[name] === "string" ? fields[name] : "")
  switch (kind) {
    case "shell":
      return { note: text("command"), input: codeBlock(text("command"), "bash") }
    case "read":
    case "view_image":
      return { note: text("path"), input: rangeText(fields) }
    case "write":
      return { note: text("path"), input: codeBlock(text("content"), text("path")), isWholeStory: true }
    case "edit":
      return showEdits(text("path"), fields["edits"])
    case "patch":
      return showPatch(text("patch"))
    case "todo":
      return showTodos(fields["items"])
    case "task":
      return { note: text("purpose") || text("agent"), input: codeBlock(text("prompt"), "markdown") }
    default:
      return {
        note: Object.values(fields).find((value) => typeof value === "string") ?? "",
        input: showJson(fields, look),
      }
  }
}

function rangeText({ offset, limit }: JsonObject): string {
  if (typeof offset !== "number" && typeof limit !== "number") return ""
  const from = typeof offset === "number" ? offset : 1
  return `<p>From line ${from}${typeof limit === "number" ? `, ${limit} lines` : ""}.</p>`
}

function showEdits(path: string, edits: JsonValue | undefined): Shown {
  const diffs = (Array.isArray(edits) ? edits : []).flatMap((edit) =>
    isJsonObject(edit) ? [diffHtml(String(edit["old"] ?? ""), String(edit["new"] ?? ""), path)] : [],
  )
  return { note: `${path} ${countText(diffs)}`, input: diffs.map(({ html }) => html).join(""), isWholeStory: true }
}

function countText(diffs: readonly { readonly added: number; readonly removed: number }[]): string {
  const sum = (kind: "added" | "removed") => diffs.reduce((all, each) => all + each[kind], 0)
  return `+${sum("added")} −${sum("removed")}`
}

function showPatch(patch: string): Shown {
  const sections = parsePatch(patch)
  if (sections === undefined) return { note: "", input: codeBlock(patch, "diff") }
  const shown = sections.map((section) => {
    const head = `<p class="path">${escapeHtml(section.path)}</p>`
    if (section.kind === "delete") return `${head}<p>Deleted.</p>`
    if (section.kind === "add") return `${head}${diffHtml("", section.content, section.path).html}`
    const hunks = section.hunks.map(
      (hunk) => diffHtml(hunk.before.join("\n"), hunk.after.join("\n"), section.path).html,
    )
    const moved = section.movedTo === undefined ? "" : `<p>Moved to ${escapeHtml(section.movedTo)}.</p>`
    return `${head}${moved}${hunks.join("")}`
  })
  return { note: sections.map(({ path }) => path).join(", "), input: shown.join(""), isWholeStory: true }
}

const MARKS: Readonly<Record<string, string>> = { completed: "☑", in_progress: "◐", pending: "☐" }

function showTodos(items: JsonValue | undefined): Shown {
  const todos = (Array.isArray(items) ? items : []).filter(isJsonObject)
  const done = todos.filter(({ status }) => status === "completed").length
  const lines = todos.map((todo) => {
    const status = String(todo["status"] ?? "")
    const now = status === "in_progress" ? ' class="now"' : ""
    return `<li${now}>${MARKS[status] ?? "☐"} ${escapeHtml(String(todo["text"] ?? ""))}</li>`
  })
  return {
    note: `${done} of ${todos.length} done`,
    input: `<ul class="todos">${lines.join("")}</ul>`,
    isWholeStory: true,
  }
}

function showParams(params: JsonValue, look: ToolLook): Shown {
  if (typeof params === "string") return { note: params, input: codeBlock(params) }
  const note = isJsonObject(params)
    ? Object.values(params).find((value) => typeof value === "string" && value !== "")
    : ""
  return { note: typeof note === "string" ? note : "", input: showJson(params, look) }
}

const LONG_BASE64 = /^[A-Za-z0-9+/_-]{512,}={0,2}$/

/** Cleaned once more as a whole, because the name of a value may say what it is. */
function showJson(value: JsonValue, { clean }: ToolLook): string {
  const shown = (_: string, each: unknown) =>
    typeof each === "string" && LONG_BASE64.test(each)
      ? `${bytesText(Math.round((each.length * 3) / 4))} of base64`
      : each
  return codeBlock(clean(JSON.stringify(value, shown, 2)), "json")
}

// --- Results -----------------------------------------------------------------------------------------------------------

function resultHtml({ result }: ToolResultPart, { clean }: ToolLook): string {
  return resultContent(result as JsonValue)
    .map((content) => {
      if (content.type === "text") return outputHtml(clean(content.text))
      return pictureHtml(content.mediaType, content.base64)
    })
    .join("")
}

function outputHtml(text: string): string {
  if (text.trim() === "") return "<p>Empty.</p>"
  const cutText =
    text.length > RESULT_UNITS_MAX
      ? `${text.slice(0, RESULT_UNITS_MAX)}\n… ${bytesText(text.length - RESULT_UNITS_MAX)} more`
      : text
  return `<pre><code>${escapeHtml(cutText.replace(/\n$/, ""))}</code></pre>`
}

/** A picture inside the page. Other kinds, and bytes that are none, are named. */
export function pictureHtml(mediaType: string, base64: string): string {
  if (!PICTURES.test(mediaType) || !BASE64.test(base64))
    return `<p>${escapeHtml(mediaType)} (${bytesText(Math.round((base64.length * 3) / 4))})</p>`
  return `<img alt="" loading="lazy" src="data:${mediaType};base64,${base64.replaceAll(/\s/g, "")}">`
}

function cleanValue(value: JsonValue, clean: (text: string) => string): JsonValue {
  if (typeof value === "string") return clean(value)
  if (Array.isArray(value)) return value.map((each) => cleanValue(each, clean))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleanValue(each, clean)]))
}

// --- Diffs -----------------------------------------------------------------------------------------------------------

// A change of a text as a diff: lines that went, lines that came, and a few around them.

const CONTEXT_LINES = 3
/** Two texts that differ in more lines than this are shown one after the other. */
const DIFFERENCES_MAX = 5_000

const KINDS: Readonly<Record<string, string>> = { "+": "add", "-": "del" }

interface DiffHtml {
  readonly html: string
  readonly added: number
  readonly removed: number
}

function diffHtml(before: string, after: string, path: string): DiffHtml {
  const patch = structuredPatch("", "", before, after, "", "", {
    context: CONTEXT_LINES,
    maxEditLength: DIFFERENCES_MAX,
  })
  const kindOf = (line: string) => KINDS[line[0] ?? ""] ?? "ctx"
  const lines = patch?.hunks.map(({ lines: hunk }) => hunk) ?? [[...signed("-", before), ...signed("+", after)]]
  const shown = lines.map((hunk) => hunk.filter((line) => !line.startsWith("\\")))
  const rows = shown.map((hunk) =>
    hunk.map((line) => `<span class="${kindOf(line)}">${highlight(line.slice(1), path) || " "}</span>`).join(""),
  )
  const count = (kind: string) => shown.flat().filter((line) => kindOf(line) === kind).length
  const [added, removed] = [count("add"), count("del")]
  return { html: `<pre class="diff">${rows.join('<span class="gap">⋯</span>')}</pre>\n`, added, removed }
}

function signed(sign: string, text: string): string[] {
  return text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `${sign}${line}`)
}
