/** What pond says to another process of itself, as the first argument. Nobody types it, and no help names it. */
export const UNPACK_NATIVE = "--unpack-native"
