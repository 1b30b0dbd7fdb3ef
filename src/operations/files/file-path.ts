/** Whether a path that a tool call names is the file that is asked for. */
import { isAbsolute } from "./file-change.ts"

/** With `/`, without `.`, `..` and doubled separators. */
export function normalizePath(path: string): string {
  const steps: string[] = []
  for (const step of path.replaceAll("\\", "/").split("/")) {
    if (step === "..") steps.pop()
    else if (step !== "" && step !== ".") steps.push(step)
  }
  return `${/^[\\/]/.test(path) ? "/" : ""}${steps.join("/")}`
}

/** The whole path of what a call names, which is relative to the directory of its session. */
export function pathInProject(path: string, project: string): string {
  return normalizePath(isAbsolute(path) ? path : `${project}/${path}`)
}

/**
 * Whether both are one file: the same path, or the same path within a project of the same name. So a project that was moved,
 * cloned on another machine or checked out as a worktree keeps its history.
 */
export function isSameFile(asked: string, named: string, project: string): boolean {
  if (asked === named) return true
  const root = normalizePath(project)
  const name = root.split("/").at(-1) ?? ""
  if (name === "" || !named.startsWith(`${root}/`)) return false
  return asked.endsWith(`/${name}${named.slice(root.length)}`)
}
