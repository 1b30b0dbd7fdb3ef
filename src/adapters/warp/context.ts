/** The live conversation: see `shared/listed-document.ts`. */
import { conversation } from "./parse.ts"

export const { context } = conversation
