/** Where this client keeps its logs: `<home>/<id>.jsonl`. What lies beside them is not looked at. */
import { join } from "node:path"
import type { Source } from "../../../../src/adapters/adapter.ts"
import { filesBelow, isIssue } from "../../../../src/adapters/shared/walk.ts"

export const source: Source = {
  roots: (environment, home) => [environment["NOTES_HOME"] ?? join(home, ".notes")],
  async *plan(root) {
    for (const found of filesBelow(root, { form: "log", depthMax: 0, accepts: (place) => place.endsWith(".jsonl") }))
      yield isIssue(found) ? found : { key: found.relativePath, root, files: [found] }
  },
}
