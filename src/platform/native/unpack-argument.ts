/** The first argument with which pond starts itself to unpack a library. Internal: help does not list it. */
export const UNPACK_NATIVE = "--unpack-native"
