/** What every file of this folder has to know of Amp's threads. */
import { keyedList } from "../shared/keyed-list.ts"

export const BRAND = { id: "amp" }

export const messages = keyedList({ key: "messages", areRepeatsKept: true })
