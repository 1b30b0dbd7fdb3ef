/** How a search came about, for people: what each ranking weighed, and how the engine found it. */

import { counted } from "../model/numbers.ts"
import { visible } from "../model/visible.ts"
import type { SearchOutput } from "../operations/search.ts"
import type { Style } from "./style.ts"

/** Nothing unless it was asked for. */
export function explanationText({ explanation }: SearchOutput, style: Style): string {
  if (explanation === undefined) return ""
  return explanation.rankings
    .map(({ name, weight, hits, plan }, index) => {
      const head = `${style.bold(`ranking ${index + 1}: ${name}`)}, weight ${weight}, ${counted(hits, "message")}`
      return `\n${head}\n${plan === undefined ? "" : `${visible(plan.trimEnd())}\n`}`
    })
    .join("")
}

/** What each ranking gave, in their order: ` 0.87 (0.35 + 0.40 + 0.12)`. */
export function sharesText({ score, shares }: { readonly score: number; readonly shares?: readonly number[] }): string {
  return shares === undefined ? "" : ` ${score.toFixed(2)} (${shares.map((share) => share.toFixed(2)).join(" + ")})`
}
