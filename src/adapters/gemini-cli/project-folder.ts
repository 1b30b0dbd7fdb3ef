/** The folder in which Gemini CLI keeps the chats of a project: a slug of its directory's name, or before 0.29 a hash. */

const FOLDER = /^tmp\/[^/]+\//
const HASH_FOLDER = /^tmp\/[0-9a-f]{64}\//

/**
 * The slug that the client gives a directory. Where two directories have one name, it numbers the second in a registry of
 * its own, which is not read here.
 */
export function slugOf(cwd: string): string {
  const name = /([^/\\]*)[/\\]*$/.exec(cwd)?.[1] ?? ""
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
  return slug === "" ? "project" : slug
}

/** Where a file of a chat lies once the chat goes on in another directory. */
export function movedTo(relativePath: string, _from: string, to: string): string {
  return relativePath.replace(FOLDER, () => `tmp/${slugOf(to)}/`)
}

/** The client copies the chats of a hash folder into the slug folder: by its name below that, a file is the same one. */
export function placeBelowProject(relativePath: string): string {
  return relativePath.replace(FOLDER, "tmp/")
}

/** The client of today looks into no such folder. */
export function isHashFolder(relativePath: string): boolean {
  return HASH_FOLDER.test(relativePath)
}
