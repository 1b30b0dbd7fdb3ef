/** The live conversation: see `shared/listed-document.ts`. */
import { events } from "./parse.ts"

export const { context } = events
