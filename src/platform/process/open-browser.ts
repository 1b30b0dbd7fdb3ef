/** Opens an address in the person's browser. */
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Environment } from "../host/environment.ts"
import { findProgram } from "./programs.ts"

/**
 * By way of a file that only this user can read: an address with a token on a command line would be seen by everybody who
 * lists the processes of the machine. Jupyter does the same. False where no program opens a browser here.
 */
export function openBrowser(url: string, folder: string, environment: Environment): boolean {
  const program = browserProgram(environment)
  if (program === undefined) return false
  const path = join(folder, "open.html")
  rmSync(path, { force: true })
  const target = url.replaceAll("&", "&amp;").replaceAll('"', "&quot;")
  writeFileSync(path, `<!doctype html><meta http-equiv="refresh" content="0;url=${target}">\n`, {
    mode: 0o600,
    flag: "wx",
  })
  const child = Bun.spawn([program, pathToFileURL(path).href], {
    env: environment as Record<string, string>,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  })
  child.unref()
  return true
}

/** Nothing on Linux without a display, such as over ssh: a browser in the terminal would take it over. */
function browserProgram(environment: Environment): string | undefined {
  const own = environment["BROWSER"]?.split(":")[0]
  if (own !== undefined && own !== "") return findProgram(own, environment)
  if (process.platform === "darwin") return findProgram("open", environment)
  const isWindows = environment["WSL_DISTRO_NAME"] !== undefined
  if (isWindows) return findProgram("wslview", environment)
  const hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].some((name) => (environment[name] ?? "") !== "")
  return hasDisplay ? findProgram("xdg-open", environment) : undefined
}
