/** The version of this build. It stands in `package.json`, and nowhere else. */
import { version } from "../../../package.json"

export const VERSION: string = version
