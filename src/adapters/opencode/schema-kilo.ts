/** What Kilo Code 7.7 has in its database beyond opencode's: a board on which agents leave messages for each other. */
import { columns, type Fork } from "./schema.ts"

/** The version whose database this is. */
export const KILO_VERSION = "7.7.9"

export const KILO_FORK: Fork = {
  ownTables: {
    session_context_epoch: {
      columns: [
        ...columns("session_id text, baseline text!, snapshot text!, baseline_seq integer!, agent text!='build'"),
        ...columns("replacement_seq integer, revision integer!=0"),
      ],
      owner: ["session_id", "session", "id", "CASCADE"],
    },
    session_message: {
      columns: [
        ...columns("id text, session_id text!, type text!, seq integer, time_created integer!, time_updated integer!"),
        "data text!",
      ],
      owner: ["session_id", "session", "id", "CASCADE"],
      indexes: [
        ["*session_message_session_seq_idx", "session_id", "seq"],
        ["session_message_session_type_seq_idx", "session_id", "type", "seq"],
        ["session_message_session_time_created_id_idx", "session_id", "time_created", "id"],
        ["session_message_time_created_idx", "time_created"],
      ],
    },
    kilo_board: {
      columns: [
        ...columns("root_session_id text, objective text!, objective_message_id text, next_seq integer!=1"),
        ...columns("cleared_seq integer!=0, message_count integer!=0, message_bytes integer!=0"),
        ...columns("time_created integer!, time_updated integer!"),
      ],
      owner: ["root_session_id", "session", "id", "CASCADE"],
    },
    kilo_board_message: {
      columns: [
        ...columns(
          "id text, board_root_session_id text!, seq integer!, time_created integer!, sender_session_id text!",
        ),
        ...columns("recipient text!, type text!, body text!, reply_to text, source_message_id text!"),
        "source_call_id text!",
      ],
      owner: ["board_root_session_id", "kilo_board", "root_session_id", "CASCADE"],
      indexes: [["*kilo_board_message_board_seq_idx", "board_root_session_id", "seq"]],
    },
  },
  // A third, which is for its own search of what was said, the client makes where it is missing.
  statements: [
    "CREATE INDEX recall_message_role_idx ON message (id, json_extract(data, '$.role'), coalesce(json_extract(data, '$.parentID'), ''))",
    "CREATE INDEX part_session_step_finish_idx ON part (session_id) WHERE json_valid(part.data) AND json_extract(part.data, '$.type') = 'step-finish'",
  ],
  migrations: [
    "20260714141136_session-message-legacy-writer-compat",
    "20260828074139_kilocode_board",
    "20260903104806_kilocode_board_reset",
    "20260907102000_kilocode_model_usage_index",
  ],
  keys: { kilo_board: ["root_session_id"], kilo_board_message: ["id"] },
}
