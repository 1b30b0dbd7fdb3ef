/**
 * The table of operations: what pond can do for whoever asks over a wire. HTTP's routes, the published schemas, MCP's tools
 * and the documents of `--json` derive from it, and a test walks it. What reads or writes this machine is not here: `sync`,
 * `restore` itself, `verify` and their like belong to the owner of the machine.
 */
import { exportSession } from "./export.ts"
import { get } from "./get.ts"
import { ingest } from "./ingest.ts"
import type { Operation } from "./operation.ts"
import { restorePlan } from "./restore-plan.ts"
import { search } from "./search.ts"
import { sql } from "./sql.ts"
import { status } from "./status.ts"

export const OPERATIONS: readonly Operation[] = [search, get, sql, ingest, exportSession, restorePlan, status].map(
  (operation) => operation as unknown as Operation,
)
