/** Text that came from a session, as HTML: nothing of it is ever markup. */
import { visible } from "../../../model/visible.ts"

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

/** Also safe between quotes of an attribute. What nobody can see is shown, so that text cannot turn around what stands beside it. */
export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
}

/** The text that was escaped, for what wants it whole: a highlighter. */
export function unescapeHtml(html: string): string {
  return html.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => TEXTS[entity] ?? entity)
}

const TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ENTITIES).map(([sign, entity]) => [entity, sign]),
)

/** Only these lead somewhere; anything else stays text. */
export function isSafeLink(href: string): boolean {
  return /^(?:https?:\/\/|mailto:)[^\s<>"']+$/i.test(href)
}
