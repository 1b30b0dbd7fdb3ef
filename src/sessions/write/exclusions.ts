/**
 * Projects that stay out of the store: a directory with everything below it, a pattern with `*` (which crosses no slash,
 * and `**` does), or a part of the path. What was stored before stays: see `pond erase`.
 */

export type Excludes = (project: string) => boolean

export function excludesOf(patterns: readonly string[]): Excludes {
  const tests = patterns.map(testOf)
  return (project) => tests.some((test) => test(project))
}

function testOf(pattern: string): Excludes {
  if (/[*?[{]/.test(pattern)) {
    const glob = new Bun.Glob(pattern)
    return (project) => glob.match(project)
  }
  if (pattern.startsWith("/")) {
    const directory = pattern.length > 1 && pattern.endsWith("/") ? pattern.slice(0, -1) : pattern
    return (project) => project === directory || project.startsWith(`${directory}/`)
  }
  const wanted = pattern.toLowerCase()
  return (project) => project.toLowerCase().includes(wanted)
}
