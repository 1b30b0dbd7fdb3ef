/** Issues as people read them: what, how often, and the first place where it was found. */

import { countText } from "../model/numbers.ts"
import type { IssueGroup } from "../model/report.ts"
import { visibleLine } from "../model/visible.ts"
import type { Style } from "./style.ts"

export function issueLine(adapter: string, { kind, severity, count, example }: IssueGroup, style: Style): string {
  const mark = severity === "fault" ? style.magenta("fault") : style.dim("note")
  const place = example.record === undefined ? example.file : `${example.file}:${example.record}`
  const often = count === 1 ? "once" : `${countText(count)} times; first`
  return `${mark}  ${adapter}: ${kind.replaceAll("_", " ")}, ${often}: ${visibleLine(example.found)} in ${visibleLine(place)}\n`
}
