/** The live conversation: see `shared/listed-document.ts`. */
import { trajectory } from "./parse.ts"

export const { context } = trajectory
