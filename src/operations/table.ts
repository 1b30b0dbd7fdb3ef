/**
 * The table of operations. What is asked for over a wire comes first: HTTP routes, MCP tools and OpenAPI derive from it. The
 * local ones belong to the owner of the machine: the command line alone asks for them, and their documents are published.
 */

import { blame } from "./files/blame.ts"
import { files } from "./files/files.ts"
import { recover } from "./files/recover.ts"
import * as capturing from "./machine/capture-operations.ts"
import * as care from "./machine/care-operations.ts"
import * as embeddings from "./machine/embeddings-operations.ts"
import * as excluding from "./machine/exclude-operations.ts"
import * as restoring from "./machine/restore-operations.ts"
import * as setup from "./machine/setup-operations.ts"
import * as syncing from "./machine/sync-operations.ts"
import type { Operation } from "./operation.ts"
import * as sharing from "./share/publish/share-operations.ts"
import { sql } from "./sql/sql.ts"
import * as erasing from "./store/erase-operations.ts"
import * as store from "./store/store-operations.ts"
import { cost } from "./wire/cost.ts"
import { eraseSessions } from "./wire/erase-sessions.ts"
import { exportSession } from "./wire/export-session.ts"
import { get } from "./wire/get.ts"
import { ingest } from "./wire/ingest.ts"
import { label } from "./wire/label.ts"
import { recall } from "./wire/recall.ts"
import { render } from "./wire/render.ts"
import { restorePlan } from "./wire/restore-plan.ts"
import { search } from "./wire/search.ts"
import { sessionNotes } from "./wire/session-notes.ts"
import { sessions } from "./wire/sessions.ts"
import { stats } from "./wire/stats.ts"
import { status } from "./wire/status.ts"

export const OPERATIONS: readonly Operation[] = [
  search,
  sessions,
  cost,
  get,
  sql,
  ingest,
  exportSession,
  restorePlan,
  render,
  stats,
  label,
  eraseSessions,
  files,
  blame,
  recover,
  recall,
  sessionNotes,
  status,
].map((operation) => operation as unknown as Operation)

export const LOCAL_OPERATIONS: readonly Operation[] = [
  store,
  erasing,
  excluding,
  sharing,
  syncing,
  capturing,
  restoring,
  embeddings,
  care,
  setup,
]
  .flatMap((each): object[] => Object.values(each))
  .filter((each) => "run" in each)
  .map((operation) => operation as unknown as Operation)
