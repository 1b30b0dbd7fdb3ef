/**
 * Links to folders below a root. Of the ways to a folder that links make, one is taken: folders that all link to each other
 * have as many as there are orders of them, and who took each did not end with nine. Folders that lie there without a link
 * are looked at first, then those behind links, then those behind links that turned up there: so it is the way with the
 * fewest links, of those the first by name, and the same every time.
 */
import { realpathSync } from "node:fs"
import { isSystemError } from "../../platform/system-error.ts"

export interface LinkWalk {
  addLink(place: string): void
  /** Looks into a folder whose name was listed: at once, or in `followLinks` where the name is a link. */
  enter(place: string, look: () => void): void
  followLinks(): void
  /** How many folders have waited for that so far. */
  waited(): number
  /** Whether a folder is looked at under this place. The first that asks has it, and always the one without a link. */
  take(place: string): boolean
}

export function createLinkWalk(root: string): LinkWalk {
  const waiting: (readonly [link: string, look: () => void])[] = []
  const followed = new Set<string>()
  /** Where each leads, once somebody asked. */
  const links = new Map<string, string | undefined>()
  const placeOf = new Map<string, string>()
  let rootPath: string | undefined

  /** Nothing where it leads nowhere, or may not be followed: that is told when it is asked for. */
  function targetOf(link: string): string | undefined {
    const target = links.get(link) ?? realPath(`${root}/${link}`)
    links.set(link, target)
    return target
  }

  /** The folder by its place without links, or by its path where it lies elsewhere. */
  function folderAt(place: string): string {
    for (let end = place.length; end > 0; end = place.lastIndexOf("/", end - 1)) {
      const above = place.slice(0, end)
      if (!links.has(above)) continue
      const target = targetOf(above)
      rootPath ??= realPath(root)
      if (target === undefined || rootPath === undefined) return place
      const path = `${target}${place.slice(end)}`
      if (path === rootPath) return ""
      return path.startsWith(`${rootPath}/`) ? path.slice(rootPath.length + 1) : path
    }
    return place
  }

  return {
    addLink: (place) => {
      if (!links.has(place)) links.set(place, undefined)
    },
    enter: (place, look) => {
      if (links.has(place) && !followed.has(place)) waiting.push([place, look])
      else look()
    },
    followLinks: () => {
      for (const [link, look] of waiting) {
        followed.add(link)
        look()
      }
    },
    waited: () => waiting.length,
    take: (place) => {
      const folder = links.size === 0 ? place : folderAt(place)
      const known = folder === place ? undefined : placeOf.get(folder)
      if (known !== undefined) return known === place
      placeOf.set(folder, place)
      return true
    },
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  }
}
