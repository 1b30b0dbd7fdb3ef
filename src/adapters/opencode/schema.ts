/**
 * The database of opencode 1.18, so that a restore can make one where there is none. opencode runs those changes of its
 * schema that `migration` does not name: a database that lacks the table, or a column of a change that it names, breaks it.
 * A fork has further tables and changes. Proved against the clients' own databases by
 * `test/adapters/opencode/schema.test.ts`.
 */
import type { DatabaseSchema } from "../adapter.ts"

export interface Table {
  /** Name and type; `!` forbids null, `=` gives a default. The first column is the key where no `key` is named. */
  readonly columns: readonly string[]
  readonly key?: readonly string[]
  /** The column that names a row of another table, and what happens when that goes. */
  readonly owner?: readonly [column: string, table: string, target: string, onDelete: string]
  /** `*` makes it unique. */
  readonly indexes?: readonly (readonly [name: string, ...columns: string[]])[]
}

const times = ["time_created integer!", "time_updated integer!"]
const ofProject = ["project_id", "project", "id", "CASCADE"] as const
const ofSession = ["session_id", "session", "id", "CASCADE"] as const

const TABLES: Readonly<Record<string, Table>> = {
  workspace: {
    columns: columns(
      "id text, type text!, name text!='', branch text, directory text, extra text, project_id text!, time_used integer!",
    ),
    owner: ofProject,
  },
  data_migration: { columns: columns("name text, time_completed integer!") },
  account_state: {
    columns: columns("id integer, active_account_id text, active_org_id text"),
    owner: ["active_account_id", "account", "id", "SET NULL"],
  },
  account: {
    columns: [
      ...columns("id text, email text!, url text!, access_token text!, refresh_token text!, token_expiry integer"),
      ...times,
    ],
  },
  control_account: {
    columns: [
      ...columns(
        "email text!, url text!, access_token text!, refresh_token text!, token_expiry integer, active integer!",
      ),
      ...times,
    ],
    key: ["email", "url"],
  },
  credential: {
    columns: [
      ...columns(
        "id text, integration_id text, label text!, value text!, connector_id text, method_id text, active integer",
      ),
      ...times,
    ],
  },
  event_sequence: { columns: columns("aggregate_id text, seq integer!, owner_id text") },
  event: {
    columns: columns("id text, aggregate_id text!, seq integer!, type text!, data text!"),
    owner: ["aggregate_id", "event_sequence", "aggregate_id", "CASCADE"],
    indexes: [
      ["*event_aggregate_seq_idx", "aggregate_id", "seq"],
      ["event_aggregate_type_seq_idx", "aggregate_id", "type", "seq"],
    ],
  },
  permission: {
    columns: [...columns("id text, project_id text!, action text!, resource text!"), ...times],
    owner: ofProject,
    indexes: [["*permission_project_action_resource_idx", "project_id", "action", "resource"]],
  },
  project_directory: {
    columns: columns("project_id text!, directory text!, type text, strategy text, time_created integer!"),
    key: ["project_id", "directory"],
    owner: ofProject,
  },
  project: {
    columns: [
      ...columns(
        "id text, worktree text!, vcs text, name text, icon_url text, icon_url_override text, icon_color text",
      ),
      ...times,
      ...columns("time_initialized integer, sandboxes text!, commands text"),
    ],
  },
  message: {
    columns: [...columns("id text, session_id text!"), ...times, "data text!"],
    owner: ofSession,
    indexes: [["message_session_time_created_id_idx", "session_id", "time_created", "id"]],
  },
  part: {
    columns: [...columns("id text, message_id text!, session_id text!"), ...times, "data text!"],
    owner: ["message_id", "message", "id", "CASCADE"],
    indexes: [
      ["part_message_id_id_idx", "message_id", "id"],
      ["part_session_idx", "session_id"],
    ],
  },
  session_context_epoch: {
    columns: columns("session_id text, baseline text!, snapshot text!, baseline_seq integer!"),
    owner: ofSession,
  },
  session_input: {
    columns: columns(
      "id text, session_id text!, prompt text!, delivery text!, admitted_seq integer!, promoted_seq integer, time_created integer!",
    ),
    owner: ofSession,
    indexes: [
      ["session_input_session_pending_delivery_seq_idx", "session_id", "promoted_seq", "delivery", "admitted_seq"],
      ["*session_input_session_admitted_seq_idx", "session_id", "admitted_seq"],
      ["*session_input_session_promoted_seq_idx", "session_id", "promoted_seq"],
    ],
  },
  session_message: {
    columns: [...columns("id text, session_id text!, type text!, seq integer!"), ...times, "data text!"],
    owner: ofSession,
    indexes: [
      ["*session_message_session_seq_idx", "session_id", "seq"],
      ["session_message_session_type_seq_idx", "session_id", "type", "seq"],
      ["session_message_session_time_created_id_idx", "session_id", "time_created", "id"],
      ["session_message_time_created_idx", "time_created"],
    ],
  },
  session: {
    columns: [
      ...columns(
        "id text, project_id text!, workspace_id text, parent_id text, slug text!, directory text!, path text",
      ),
      ...columns("title text!, version text!, share_url text, summary_additions integer, summary_deletions integer"),
      ...columns("summary_files integer, summary_diffs text, metadata text, cost real!=0, tokens_input integer!=0"),
      ...columns("tokens_output integer!=0, tokens_reasoning integer!=0, tokens_cache_read integer!=0"),
      ...columns("tokens_cache_write integer!=0, revert text, permission text, agent text, model text"),
      ...times,
      ...columns("time_compacting integer, time_archived integer"),
    ],
    owner: ofProject,
    indexes: [
      ["session_project_idx", "project_id"],
      ["session_workspace_idx", "workspace_id"],
      ["session_parent_idx", "parent_id"],
    ],
  },
  todo: {
    columns: [...columns("session_id text!, content text!, status text!, priority text!, position integer!"), ...times],
    key: ["session_id", "position"],
    owner: ofSession,
    indexes: [["todo_session_idx", "session_id"]],
  },
  session_share: {
    columns: [...columns("session_id text, id text!, secret text!, url text!"), ...times],
    owner: ofSession,
  },
  migration: { columns: columns("id text, time_completed integer!") },
}

/** The version of opencode whose database this is. */
export const VERSION = "1.18.33"

/** Every change of the schema that the tables above have been through. The client notes when; nobody reads that. */
const MIGRATIONS = [
  "20260127222353_familiar_lady_ursula",
  "20260211171708_add_project_commands",
  "20260213144116_wakeful_the_professor",
  "20260225215848_workspace",
  "20260227213759_add_session_workspace_id",
  "20260228203230_blue_harpoon",
  "20260303231226_add_workspace_fields",
  "20260309230000_move_org_to_state",
  "20260312043431_session_message_cursor",
  "20260323234822_events",
  "20260410174513_workspace-name",
  "20260413175956_chief_energizer",
  "20260423070820_add_icon_url_override",
  "20260427172553_slow_nightmare",
  "20260428004200_add_session_path",
  "20260501142318_next_venus",
  "20260504145000_add_sync_owner",
  "20260507164347_add_workspace_time",
  "20260510033149_session_usage",
  "20260511000411_data_migration_state",
  "20260511173437_session-metadata",
  "20260601010001_normalize_storage_paths",
  "20260601202201_amazing_prowler",
  "20260602002951_lowly_union_jack",
  "20260602182828_add_project_directories",
  "20260603001617_session_message_projection_indexes",
  "20260603040000_session_message_projection_order",
  "20260603141458_session_input_inbox",
  "20260603160727_jittery_ezekiel_stane",
  "20260604172448_event_sourced_session_input",
  "20260605003541_add_session_context_snapshot",
  "20260605042240_add_context_epoch_agent",
  "20260611035744_credential",
  "20260611192811_lush_chimera",
  "20260612174303_project_dir_strategy",
  "20260622142730_simplify_session_context_epoch",
  "20260622170816_reset_v2_session_state",
  "20260622202450_simplify_session_input",
]

/** The tables that a restore writes to, with what tells their rows apart. */
const KEYS = {
  project: ["id"],
  session: ["id"],
  message: ["id"],
  part: ["id"],
  todo: ["session_id", "position"],
  session_message: ["id"],
  session_input: ["id"],
  session_context_epoch: ["session_id"],
  event_sequence: ["aggregate_id"],
  event: ["id"],
}

/** What the database of a fork has beyond the one of opencode. */
export interface Fork {
  readonly ownTables: Readonly<Record<string, Table>>
  /** Indexes that are made of expressions. */
  readonly statements: readonly string[]
  readonly migrations: readonly string[]
  readonly keys: Readonly<Record<string, readonly string[]>>
}

const NO_FORK: Fork = { ownTables: {}, statements: [], migrations: [], keys: {} }

export interface ClientSchema extends DatabaseSchema {
  /** The columns that are understood. Others are read and kept too, and named as not understood. */
  readonly columnsOf: (table: string) => readonly string[] | undefined
  /** The last change of the schema that is known. */
  readonly lastMigration: string
}

export function createSchema(fork: Fork = NO_FORK): ClientSchema {
  const tables = { ...TABLES, ...fork.ownTables }
  const migrations = [...MIGRATIONS, ...fork.migrations]
  return {
    /** Made when asked for: every command loads this file, and few of them make a database. */
    get create() {
      return [
        ...Object.entries(tables).map(([name, table]) => createTable(name, table)),
        ...Object.entries(tables).flatMap(([name, table]) =>
          (table.indexes ?? []).map((index) => createIndex(name, index)),
        ),
        ...fork.statements,
        `INSERT INTO migration (id, time_completed) VALUES ${migrations.map((id) => `('${id}', 0)`).join(", ")}`,
      ]
    },
    keys: { ...KEYS, ...fork.keys },
    shared: ["project"],
    owners: ["session", "event_sequence"],
    columnsOf: (table) => tables[table]?.columns.map((column) => column.slice(0, column.indexOf(" "))),
    lastMigration: migrations.at(-1) ?? "",
  }
}

export function columns(list: string): string[] {
  return list.split(", ")
}

function createTable(name: string, { columns: all, key, owner }: Table): string {
  const lines = all.map((column, index) => columnSql(column, index === 0 && key === undefined))
  if (key !== undefined) lines.push(`CONSTRAINT ${name}_pk PRIMARY KEY(${key.join(", ")})`)
  if (owner !== undefined) {
    const [column, table, target, onDelete] = owner
    const constraint = `fk_${name}_${column}_${table}_${target}_fk`
    lines.push(`CONSTRAINT ${constraint} FOREIGN KEY (${column}) REFERENCES ${table}(${target}) ON DELETE ${onDelete}`)
  }
  return `CREATE TABLE ${name} (${lines.join(", ")})`
}

function columnSql(column: string, isKey: boolean): string {
  const [, name = "", type = "", required, value] = /^(\w+) (\w+)(!?)(?:=(.*))?$/.exec(column) ?? []
  const clauses = [name, type]
  if (isKey) clauses.push("PRIMARY KEY")
  if (value !== undefined) clauses.push(`DEFAULT ${value}`)
  if (required === "!") clauses.push("NOT NULL")
  return clauses.join(" ")
}

function createIndex(table: string, [name, ...on]: readonly [string, ...string[]]): string {
  const isUnique = name.startsWith("*")
  return `CREATE ${isUnique ? "UNIQUE " : ""}INDEX ${name.replace("*", "")} ON ${table} (${on.join(", ")})`
}
