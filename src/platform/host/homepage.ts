/** The page of the project that made this build, below which its releases are. A release puts it in; a source tree has none. */
export const HOMEPAGE: string | undefined = undefined
