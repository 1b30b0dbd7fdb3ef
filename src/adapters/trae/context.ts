/** The live conversation: see `shared/listed-document.ts`. */
import { chat } from "./parse.ts"

export const { context } = chat
