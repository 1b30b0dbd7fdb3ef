/**
 * Screens as goldens of a few hundred characters: each is scaled down to a grid whose cells say how bright they are, in
 * sixteen steps. Pixels of letters differ between versions of fonts and browsers, and a page of them is a megabyte. The goldens
 * are of Debian's Chromium with DejaVu: with other fonts, `--update` writes ones to compare with before a change.
 */
import { existsSync, readFileSync } from "node:fs"
import type { Screen, Tab } from "./browser.ts"

const COLUMNS = 32
const ROWS = 24
/** Another view differs in 7% of the cells at least, an unfolded page from a folded one in 4.3%, two runs in 0.3%. */
const SHARE_MAX = 0.04

const WIDTHS = [390, 800, 1400]
const HEIGHT = 900

export const SCREENS: readonly Screen[] = (["light", "dark"] as const).flatMap((theme) =>
  WIDTHS.map((width) => ({ width, height: HEIGHT, theme })),
)

type Sketch = readonly string[]

export interface Goldens {
  /** What is different from the golden, in a sentence; nothing where it is the same. */
  compare(name: string, png: Uint8Array): Promise<string | undefined>
  /** Writes the file where that was asked for. Goldens of screens that were not compared go. */
  end(): Promise<void>
}

/** `tab` is an empty one, which draws the pictures. */
export function openGoldens(path: string, tab: Tab, isUpdate: boolean): Goldens {
  const known: Readonly<Record<string, Sketch>> = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {}
  const seen: Record<string, Sketch> = {}
  return {
    async compare(name, png) {
      const sketch = await sketchOf(tab, png)
      seen[name] = sketch
      if (isUpdate) return undefined
      const golden = known[name]
      if (golden === undefined) return "no golden: --update writes it"
      const share = shareOfChanges(golden, sketch)
      return share > SHARE_MAX ? `${Math.round(share * 100)}% of the screen is not as it was` : undefined
    },
    async end() {
      if (isUpdate) await Bun.write(path, `${JSON.stringify(seen, null, 2)}\n`)
    },
  }
}

async function sketchOf(tab: Tab, png: Uint8Array): Promise<Sketch> {
  const url = `data:image/png;base64,${png.toBase64()}`
  return await tab.value<string[]>(`(async () => {
    const picture = await createImageBitmap(await (await fetch(${JSON.stringify(url)})).blob())
    const canvas = new OffscreenCanvas(${COLUMNS}, ${ROWS})
    const context = canvas.getContext("2d")
    context.imageSmoothingQuality = "high"
    context.drawImage(picture, 0, 0, ${COLUMNS}, ${ROWS})
    const { data } = context.getImageData(0, 0, ${COLUMNS}, ${ROWS})
    return Array.from({ length: ${ROWS} }, (_, row) => Array.from({ length: ${COLUMNS} }, (_, column) => {
      const at = 4 * (row * ${COLUMNS} + column)
      return Math.floor((0.3 * data[at] + 0.59 * data[at + 1] + 0.11 * data[at + 2]) / 16).toString(16)
    }).join(""))
  })()`)
}

function shareOfChanges(golden: Sketch, sketch: Sketch): number {
  const cells = golden.flatMap((row, at) => [...row].map((cell, column) => [cell, sketch[at]?.[column] ?? ""]))
  return cells.filter(([old, now]) => old !== now).length / cells.length
}
