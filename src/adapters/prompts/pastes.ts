/**
 * Long pasted texts: a line names them by a hash, and the client keeps each in a file, which it deletes in time. What is
 * left is put behind its line as a separate item, so that the line stays what it was once the file is gone.
 */
import { lstatSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from "../../model/json.ts"
import type { Brand } from "./brands.ts"

export interface Pastes {
  readonly added: (lines: readonly string[]) => string[]
  /** Texts that were named, and are no longer there or too long. */
  readonly gone: number
}

/** The keys of such an item. */
export const PASTE = "pasteCache"
export const PASTED = "content"

const HASH = /^[0-9a-f]{8,64}$/
const BYTES_MAX = 1 << 23

export function createPastes(root: string, { pastes: folder }: Brand): Pastes {
  let gone = 0
  return {
    added: (lines) => lines.flatMap((line) => [line, ...itemsOf(line)]),
    get gone() {
      return gone
    },
  }

  function itemsOf(line: string): string[] {
    if (folder === undefined || !line.includes('"contentHash"')) return []
    const parsed = parseJson(line)
    if (!parsed.ok || !isJsonObject(parsed.value)) return []
    const { pastedContents: pasted, timestamp } = parsed.value
    const moment: JsonObject = timestamp === undefined ? {} : { timestamp }
    return Object.values(isJsonObject(pasted ?? null) ? (pasted as JsonObject) : {}).flatMap((each) => {
      if (!isJsonObject(each) || typeof each["contentHash"] !== "string" || each[PASTED] !== undefined) return []
      const text = pastedText(join(root, folder as string), each["contentHash"])
      if (text === undefined) gone++
      return text === undefined ? [] : [stringifyJson({ [PASTE]: each["contentHash"], [PASTED]: text, ...moment })]
    })
  }
}

function pastedText(folder: string, hash: string): string | undefined {
  if (!HASH.test(hash)) return undefined
  const path = join(folder, `${hash}.txt`)
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true && stat.size <= BYTES_MAX ? readFileSync(path, "utf8") : undefined
}
