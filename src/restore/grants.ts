/** What a session lets its client do without asking, as its own adapter knows it: see `Grant`. */
import type { Adapter, OutputFile } from "../adapters/adapter.ts"
import type { Grant } from "../adapters/output-forms.ts"
import { isJsonObject, type JsonObject, parseJson } from "../model/json.ts"
import { flatRows } from "../platform/files/foreign-sqlite-writer.ts"

interface Written {
  readonly target: Pick<Adapter, "output">
  readonly files: readonly OutputFile[]
}

/** Each once, in the order of the files. */
export function grantsOf({ target, files }: Written): readonly string[] {
  const found = new Set<string>()
  for (const file of files) {
    for (const grant of target.output.grants ?? []) {
      for (const record of recordsOf(file, grant)) {
        const said = grant.of(record)
        if (said !== undefined) found.add(said)
      }
    }
  }
  return [...found]
}

/** Those that may grant something. */
function recordsOf(file: OutputFile, { at, word }: Grant): Iterable<JsonObject> {
  if (at instanceof RegExp)
    return file.form === "database" || !at.test(file.relativePath) ? [] : recordsWith(word, file)
  if (file.form !== "database") return []
  const { table } = at
  return [...flatRows(file)].filter((each) => each.table === table).map(({ row }) => row)
}

function* recordsWith(word: string, file: Exclude<OutputFile, { form: "database" }>): Iterable<JsonObject> {
  if (file.form === "bytes") return
  for (const each of file.form === "log" ? file.lines : [file.text]) {
    const text = typeof each === "string" ? each : Buffer.from(each).toString("utf8")
    const parsed = text.includes(word) ? parseJson(text) : undefined
    if (parsed?.ok === true && isJsonObject(parsed.value)) yield parsed.value
  }
}
