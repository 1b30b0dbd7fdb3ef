/** The folder in which Droid keeps the sessions of a directory: its path with a dash for every slash. */

export function keyOfDirectory(cwd: string): string {
  return cwd.replace(/[/\\]/g, "-")
}

/** Where a file of a session lies once the session goes on in another directory. */
export function movedTo(relativePath: string, _from: string, to: string): string {
  return relativePath.replace(/^sessions\/[^/]+\//, () => `sessions/${keyOfDirectory(to)}/`)
}
