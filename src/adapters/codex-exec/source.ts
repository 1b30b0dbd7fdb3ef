/** Outputs of `codex exec --json` lie wherever somebody wrote them, and are named with `--path`. */
import { pointedSource } from "../shared/pointed-files.ts"

export const source = pointedSource({
  names: /(?:^|\/)[\w-]{1,80}\.exec\.jsonl$/,
  opening: /^\s*\{"type":"thread\.(?:started|resumed)","thread_id":"[0-9a-f-]{36}"/,
  formOf: () => "log",
  endingOf: () => ".exec.jsonl",
})
