/** How the role of a message looks, in results, transcripts and the picker. */
import { visibleLine } from "../../model/visible.ts"
import type { Style } from "./style.ts"

export function roleText(role: string, style: Style): string {
  return role === "user" ? style.green(role) : style.cyan(visibleLine(role))
}
