/**
 * The table of operations: what pond can do for whoever asks over a wire. HTTP's routes, the published schemas, MCP's tools
 * and the documents of `--json` derive from it, and a test walks it. What reads or writes this machine is not here: `sync`,
 * `restore` itself, `verify` and their like belong to the owner of the machine.
 */

import type { Operation } from "./operation.ts"
import { sql } from "./sql/sql.ts"
import { exportSession } from "./wire/export-session.ts"
import { get } from "./wire/get.ts"
import { ingest } from "./wire/ingest.ts"
import { restorePlan } from "./wire/restore-plan.ts"
import { search } from "./wire/search.ts"
import { status } from "./wire/status.ts"

export const OPERATIONS: readonly Operation[] = [search, get, sql, ingest, exportSession, restorePlan, status].map(
  (operation) => operation as unknown as Operation,
)
