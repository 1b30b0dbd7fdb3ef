/** The live conversation: see `shared/listed-document.ts`. */
import { session } from "./parse.ts"

export const { context } = session
