/** Where Cline and its kin keep their sessions, by their variables and defaults. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"
import type { Source } from "../adapter.ts"
import { editorFolders } from "../shared/editors.ts"
import { type Brand, CLINE, KILO_LEGACY, ROO_CODE, ZOO_CODE } from "./brands.ts"

export const roots = rootsOf(CLINE)
export const rooCodeRoots = rootsOf(ROO_CODE)
export const zooCodeRoots = rootsOf(ZOO_CODE)
export const kiloLegacyRoots = rootsOf(KILO_LEGACY)

export function rootsOf({ extensions, id }: Brand): Source["roots"] {
  const isCline = id === "cline"
  return (environment, home) => {
    const storages = editorFolders(environment, home).map((editor) => join(editor, "globalStorage"))
    const [usual = "", ...others] = storages.flatMap((storage) => extensions.map((name) => join(storage, name)))
    // Of some extensions there were five names, and there are thirty editors: those that were ever used.
    const tasks = [usual, ...others.filter((place) => existsSync(place))]
    return isCline ? [dataOf(environment, home), ...tasks] : tasks
  }
}

/** Where Cline keeps what is its own. */
export function dataOf(environment: Environment, home: string): string {
  const folder = environment["CLINE_DIR"] || join(home, ".cline")
  return environment["CLINE_DATA_DIR"] || join(folder, "data")
}
