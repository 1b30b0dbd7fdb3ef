/** The folder in which iFlow keeps the sessions of a directory: its names with dashes between them, without dashes of their own at their ends. */
export function keyOfDirectory(cwd: string): string {
  const names = cwd.split(/[\\/:]/).map((name) => name.replace(/^-+|-+$/g, ""))
  return names
    .filter((name) => name !== "")
    .map((name) => `-${name}`)
    .join("")
}

/** Where a session lies once it goes on in another directory. */
export function movedTo(relativePath: string, _from: string, to: string): string {
  return relativePath.replace(/^projects\/[^/]+\//, () => `projects/${keyOfDirectory(to)}/`)
}
