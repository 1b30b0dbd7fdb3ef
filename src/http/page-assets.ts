/**
 * The script and the styles of the page at `/`, bundled from `src/page` at the first request. The executable carries them
 * ready made: the build puts them in the place of this module (`build/release/embed.ts`).
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"

export interface PageAssets {
  readonly script: string
  readonly style: string
}

/** In this order: the last ones hold what changes on narrow screens. */
const STYLES = ["base", "lists", "session", "activity", "windows"]
const FOLDER = join(import.meta.dir, "../page")

export async function pageAssets(): Promise<PageAssets> {
  const { outputs } = await Bun.build({ entrypoints: [join(FOLDER, "main.tsx")], minify: true, target: "browser" })
  return { script: (await outputs[0]?.text()) ?? "", style: STYLES.map(styleNamed).join("") }
}

function styleNamed(name: string): string {
  return readFileSync(join(FOLDER, "style", `${name}.css`), "utf8")
}
