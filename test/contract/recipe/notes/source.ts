/** The logs below its root: `<id>.jsonl`. What lies beside them is not looked at. */
import type { Source } from "../../../../src/adapters/adapter.ts"
import { filesBelow, isIssue } from "../../../../src/adapters/shared/walk.ts"
import { roots } from "./roots.ts"

export const source: Source = {
  roots,
  async *plan(root) {
    for (const found of filesBelow(root, { form: "log", depthMax: 0, accepts: (place) => place.endsWith(".jsonl") }))
      yield isIssue(found) ? found : { key: found.relativePath, root, files: [found] }
  },
}
