/**
 * The name of the folder in which Claude Code keeps the sessions of a directory. It cannot be turned back: many
 * directories have the same name. Older versions folded fewer characters, so a directory may have several of them.
 */

/** A longer name is cut here, and the rest of the directory is told apart by a hash. */
const NAME_UNITS_MAX = 200

export function projectKey(cwd: string): string {
  const name = cwd.replace(/[^a-zA-Z0-9]/g, "-")
  return name.length <= NAME_UNITS_MAX ? name : `${name.slice(0, NAME_UNITS_MAX)}-${hash32(cwd).toString(36)}`
}

/** The client looks for sessions of a directory in this folder alone, whatever older folders there are. */
export function placeIn(place: string, cwd: string): string {
  return place.replace(/^(.+\/\.claude\/|)projects\/[^/]+\//, (_, above) => `${above}projects/${projectKey(cwd)}/`)
}

/** The client's own: 31 times the hash so far plus the next UTF-16 unit, in 32 bits, without its sign. */
function hash32(text: string): number {
  let hash = 0
  for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  return Math.abs(hash)
}
