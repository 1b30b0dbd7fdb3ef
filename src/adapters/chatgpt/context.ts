/**
 * The live conversation: from the node that is the current one up to its root, without what is hidden from the model. Where the
 * document names none, from its newest leaf. Pictures have their bytes. Reads kept records, never the disk.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Part, SessionLog } from "../../model/session.ts"
import { imageTypeOfBase64 } from "../decode.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { ASSET_IDS, shape, textIn } from "./nodes.ts"

interface Node {
  readonly parent: string | undefined
  readonly entries: readonly Entry[]
  readonly isSent: boolean
}

export function context(log: SessionLog): readonly Entry[] {
  const nodes = new Map<string, Node>()
  const assets = new Map<string, string>()
  let current: string | undefined
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record, file, base64 } = sourceOf(newest)
    const [asset] = typeof file === "string" ? ((file.split("/").at(-1) ?? "").match(ASSET_IDS) ?? []) : []
    if (typeof base64 === "string" && asset !== undefined) assets.set(asset, base64)
    else if (isJsonObject(record) && shape.key in record) current = textIn(record, "current_node")
    else if (isJsonObject(record) && textIn(record, "id") !== undefined)
      nodes.set(String(record["id"]), { parent: textIn(record, "parent"), entries, isSent: isSent(record) })
  }
  const last = current !== undefined && nodes.has(current) ? current : [...nodes.keys()].at(-1)
  const path = new Set<string>()
  for (let id = last; id !== undefined && nodes.has(id) && !path.has(id); id = nodes.get(id)?.parent) path.add(id)
  return [...path]
    .toReversed()
    .flatMap((id) => nodes.get(id) ?? [])
    .flatMap(({ entries, isSent: isShown }) => (isShown ? entries : []))
    .filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
    .map((entry) => withAssets(entry, assets))
}

function isSent(node: JsonObject): boolean {
  const message = node["message"]
  return isJsonObject(message) && message["weight"] !== 0
}

function withAssets(entry: Entry, assets: ReadonlyMap<string, string>): Entry {
  if (assets.size === 0) return entry
  const parts = entry.parts.map((part: Part): Part => {
    if (part.type !== "file" || !("url" in part.data)) return part
    const ids: readonly JsonValue[] = part.data.url.match(ASSET_IDS) ?? []
    const base64 = ids.flatMap((id) => assets.get(String(id)) ?? [])[0]
    if (base64 === undefined) return part
    return { ...part, media_type: imageTypeOfBase64(base64) ?? part.media_type, data: { base64 } }
  })
  return { ...entry, parts } as Entry
}
