/** A call of a tool that an agent is told to make. Ids come from files that anybody may have written: none reads as more than itself. */
import { visible } from "../model/visible.ts"

/** `pond_get session_id=s session_from=end` */
export function toolCall(name: string, given: Readonly<Record<string, string>>): string {
  return [name, ...Object.entries(given).map(([key, value]) => `${key}=${argumentText(value)}`)].join(" ")
}

/** As it stands where it is one plain word; otherwise as a JSON string on one line, with nothing hidden in it. */
export function argumentText(value: string): string {
  if (/^[\w@%+:,./#-]+$/.test(value)) return value
  return Array.from(JSON.stringify(value), (sign) =>
    visible(sign) === sign && sign !== "\n" ? sign : escaped(sign),
  ).join("")
}

function escaped(sign: string): string {
  return Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
    "",
  )
}
