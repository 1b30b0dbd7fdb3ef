/** The folder in which Qwen Code keeps the chats of a directory: its path with a dash for every other sign. */

export function keyOfDirectory(cwd: string): string {
  return cwd.replace(/[^A-Za-z0-9]/g, "-")
}

/** Where a file of a chat lies once the chat goes on in another directory. */
export function movedTo(relativePath: string, _from: string, to: string): string {
  return relativePath.replace(/^projects\/[^/]+\//, () => `projects/${keyOfDirectory(to)}/`)
}

/** What the client puts away is the same chat. */
export function unarchived(relativePath: string): string {
  return relativePath.replace("/chats/archive/", "/chats/")
}
