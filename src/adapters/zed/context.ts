/** The live conversation: see `shared/listed-document.ts`. */
import { thread } from "./parse.ts"

export const { context } = thread
