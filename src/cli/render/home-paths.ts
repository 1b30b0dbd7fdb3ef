/** Paths as people read them: safe to print, and with `~` for the home directory. */
import { visibleLine } from "../../model/visible.ts"

/** Prose that may name paths, with `~` for the home directory. */
export function proseText(text: string, home: string | undefined): string {
  if (home === undefined || home === "" || home === "/") return text
  const parts = text.split(home)
  return parts.reduce((left, right) => {
    const isPath = !/[\w./-]$/.test(left) && /^(?:\/|\.?(?:\s|$)|[^\w.-])/.test(right)
    return `${left}${isPath ? "~" : home}${right}`
  })
}

/** A path, with `~` for the home directory. */
export function projectText(project: string, home: string | undefined): string {
  const path = visibleLine(project)
  if (home === undefined || home === "") return path
  if (path === home) return "~"
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}
