/** Where the tables of a namespace lie inside their store. Apart from the rest, because it costs no engine to say. */
import { sha256Of } from "../platform/sha256.ts"
import { storedText } from "./columns/surrogate-escape.ts"

/** The store itself: what is meant where no namespace is named. */
export const PERSONAL_NAMESPACE = "local"

/** A name of pond's own making: whatever bytes the namespace has, its folder is safe on every disk and in every bucket. */
export function folderOf(namespace: string): string {
  return `ns-${sha256Of(storedText(namespace)).slice(0, 40)}`
}
