/** A user whom rights keep out, also where the tests are run by root, whom they do not. */
export const IS_ROOT = process.getuid?.() === 0
/** What a command of such a user begins with. */
export const AS_USER = IS_ROOT ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
/** Whether there is one. */
export const CAN_BE_USER = !IS_ROOT || Bun.which("setpriv") !== null
