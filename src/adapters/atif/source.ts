/** Trajectories lie wherever somebody wrote them, one in a file, and are named with `--path`. A file without steps is none. */
import { pointedSource } from "../shared/pointed-files.ts"

export const source = pointedSource({
  names: /(?:^|\/)(?:trajectory|[\w.-]+\.(?:trajectory|atif)|trajectories\/[\w-]+)\.json$/,
  opening: /"schema_version"\s*:\s*"ATIF-v/,
  formOf: () => "document",
  endingOf: () => ".trajectory.json",
})
