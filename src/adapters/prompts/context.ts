/** What is known of the conversation: see `shared/listed-document.ts`. */
import { claude } from "./parse.ts"

export const { context } = claude
