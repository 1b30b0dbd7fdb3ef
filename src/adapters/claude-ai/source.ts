/**
 * Claude.ai keeps nothing on this machine that is read: its owner exports the account, and names the zip or its folder. Of that
 * the conversations are read. `users.json`, which has an address and a telephone number, and `memories.json` are never opened.
 */
import type { Source } from "../adapter.ts"
import { exportSource } from "../shared/export-source.ts"
import { textIn } from "./documents.ts"

export const source: Source = exportSource({
  names: /^conversations(?:-\d{1,6})?\.json$/,
  idOf: (element) => (Array.isArray(element["chat_messages"]) ? textIn(element, "uuid") : undefined),
  isOther: (element) => typeof element["mapping"] === "object",
})
