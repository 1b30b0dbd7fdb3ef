/**
 * ChatGPT keeps nothing on this machine that can be read: its owner exports the account, and names the zip or its folder. Of
 * that the conversations are read and the files that they name. `user.json`, which has an address and a telephone number,
 * and copies for people (`chat.html`) are never opened.
 */
import type { JsonObject } from "../../model/json.ts"
import type { Source } from "../adapter.ts"
import { exportSource } from "../shared/export-source.ts"
import { ASSET_IDS, textIn } from "./nodes.ts"

export const source: Source = exportSource({
  names: /^conversations(?:-\d{1,6})?\.json$/,
  idOf: (element: JsonObject) =>
    typeof element["mapping"] === "object" ? (textIn(element, "conversation_id") ?? textIn(element, "id")) : undefined,
  isOther: (element) => Array.isArray(element["chat_messages"]),
  assets: ASSET_IDS,
})
