/**
 * Every generation of a client's sessions that lies on people's disks has a fixture: what tells it apart is in it, as the
 * client writes it. The laws are proved over it by `adapter.contract.test.ts`.
 */
import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"

const FIXTURES = join(import.meta.dir, "../../fixtures")

interface Witness {
  /** A file whose place below the root is like this is there. */
  readonly place?: RegExp
  /** And what it holds is like this. Of a database, its rows as JSON. */
  readonly holds?: RegExp
}

/** What it is, the fixture that has it, and how it is known. */
type Generation = readonly [what: string, fixture: string, witness: Witness]

const CLAUDE_CODE: readonly Generation[] = [
  ["1.0: a side chain inside the session", "v1.0-agent-inside", { holds: /"isSidechain":true.*"version":"1\.0\./ }],
  ["1.0: a resume that copies", "v1.0-resume-copies", { holds: /"type":"summary"/ }],
  ["2.0: flat agents", "v2.0-flat-agents", { place: /^projects\/[^/]+\/agent-[0-9a-f]+\.jsonl$/ }],
  ["2.1: agents in a folder", "v2.1-early-agent", { place: /\/subagents\/agent-[^/]+\.jsonl$/ }],
  ["2.1: agents with a meta file", "agent", { place: /\/subagents\/agent-[^/]+\.meta\.json$/ }],
  ["workflows: their agents", "v2.1-workflow-windows", { place: /\/subagents\/workflows\/[^/]+\/agent-[^/]+\.jsonl$/ }],
  ["workflows: their journal", "v2.1-workflow-windows", { place: /\/journal\.jsonl$/ }],
  ["workflows: their script", "v2.1-workflow-windows", { place: /\/workflows\/scripts\// }],
  ["results that were too large", "spill", { place: /\/tool-results\/[^/]+\.txt$/ }],
  ["compaction of 2.0", "v2.0-compact", { holds: /"compact_boundary"/ }],
  ["compaction that keeps a tail", "v2.1.178-compact", { holds: /"preservedSegment"/ }],
  ["compaction of 2.1.326", "compact", { holds: /"preservedMessages"/ }],
  ["what is queued", "v2.1-workflow-windows", { holds: /"type":"queue-operation"/ }],
  ["attachments", "v2.1-workflow-windows", { holds: /"type":"attachment"/ }],
  ["progress", "v2.1-workflow-windows", { holds: /"type":"progress"/ }],
  ["side records: snapshots of files", "v2.1-workflow-windows", { holds: /"type":"file-history-snapshot"/ }],
  ["side records: titles", "v2.1-workflow-windows", { holds: /"type":"custom-title"/ }],
  ["side records: the last prompt", "tools", { holds: /"type":"last-prompt"/ }],
  ["forks", "fork", { place: /\.jsonl$/ }],
  ["a branch that was left", "rewind", { place: /\.jsonl$/ }],
  ["Windows paths", "v2.1-workflow-windows", { holds: /"cwd":"C:\\\\/ }],
  ["images", "image", { holds: /"media_type":"image\/png"/ }],
]

const CODEX: readonly Generation[] = [
  ["bare: one document", "first-clients", { place: /\.json$/ }],
  ["bare: items line by line", "first-clients", { place: /\.jsonl$/, holds: /^\{"type":"message"/m }],
  ["envelopes", "enveloped", { holds: /"type":"response_item","payload"/ }],
  ["paginated", "tools", { holds: /"history_mode":"paginated"/ }],
  ["compressed", "cold", { place: /\.jsonl\.zst$/ }],
  ["archived", "archived-review", { place: /^archived_sessions\// }],
  ["a fork that holds no copy", "forked", { holds: /"history_base":\{/ }],
  ["a fork that begins with a copy", "copied", { holds: /"forked_from_id"/ }],
  ["threads that were spawned", "agents", { holds: /"thread_spawn"/ }],
  ["reviews", "archived-review", { holds: /entered_review_mode/ }],
  ["compaction with the history that it leaves", "compacted", { holds: /"replacement_history"/ }],
  ["compaction by a summary alone", "enveloped", { holds: /"type":"compacted","payload":\{"message":"[^"]*"\}/ }],
  ["rollback", "enveloped", { holds: /"thread_rolled_back"/ }],
  ["revert", "reverted", { place: /rollout-[^/]*_[0-9a-f-]+\.jsonl$/ }],
  ["tools in code", "code-mode", { holds: /"custom_tool_call"/ }],
  ["images", "image", { holds: /"input_image"/ }],
  ["the index of titles", "enveloped", { place: /^session_index\.jsonl$/ }],
]

const OPENCODE: readonly Generation[] = [
  ["the first tree", "first-tree", { place: /^project\/[^/]+\/storage\/session\/info\// }],
  ["parts inside their message", "first-tree", { place: /\/session\/message\//, holds: /"parts":\[|"parts": \[/ }],
  ["the tree", "tree", { place: /^storage\/part\/msg_[^/]+\/prt_/ }],
  ["the tree: todos", "tree", { place: /^storage\/todo\// }],
  ["the tree: diffs", "tree", { place: /^storage\/session_diff\// }],
  ["the tree: children", "tree", { place: /^storage\/session\//, holds: /"parentID"/ }],
  ["rows: a session without the columns of 1.14", "first-database", { holds: /"version":"1\.2\.15"/ }],
  ["rows: a session without the columns of 1.18", "before-events", { holds: /"version":"1\.14\.41"/ }],
  ["rows: messages and parts", "tools", { place: /^opencode\.db$/, holds: /"table":"part"/ }],
  ["rows: session_message", "events", { holds: /"table":"session_message"/ }],
  ["rows: events", "events", { holds: /"table":"event"/ }],
  ["rows: todos", "todos", { holds: /"table":"todo"/ }],
  ["rows: children", "subagent", { holds: /"parent_id":"ses_/ }],
  ["rows: a diff beside them", "undone", { place: /^storage\/session_diff\// }],
  ["an undo that is not made good yet", "marked", { holds: /"revert":"\{/ }],
  ["an undo that was made good", "undone", { holds: /"table":"event".*message\.removed/ }],
  ["an export", "handed-over", { place: /^exports\/[^/]+\.json$/, holds: /"info"/ }],
  ["compaction", "compact", { holds: /\\"type\\":\\"compaction\\"/ }],
  ["forks", "fork", { holds: /\(fork #1\)/ }],
]

const PI: readonly Generation[] = [
  ["v1, by its client", "v1-client", { holds: /^\{"type":"session","id":/ }],
  ["v1: a compaction that counts", "v1-client", { holds: /"firstKeptEntryIndex":\d/ }],
  ["v1: a fork by path", "v1", { holds: /"branchedFrom":"/ }],
  ["v1 that became v3", "v1-client-upgraded", { holds: /^\{"type":"session".*"version":3\}$/m }],
  ["v2, by its client", "v2-client", { holds: /"version":2/ }],
  ["v2: words of hooks", "v2", { holds: /"role":"hookMessage"/ }],
  ["v3", "tools", { holds: /"version":3/ }],
  ["v3 of the old package", "resumed-old", { holds: /"version":3/ }],
  ["v4: lanes", "v4-lanes", { holds: /"kind":"lane"/ }],
  ["v4: lists of writes", "v4-transactions", { holds: /^\[\{/m }],
  ["branches and their summary", "branches", { holds: /"type":"branch_summary"/ }],
  ["labels", "branches", { holds: /"type":"label"/ }],
  ["entries of extensions", "branches", { holds: /"type":"custom"/ }],
  ["messages of extensions", "branches", { holds: /"type":"custom_message"/ }],
  ["edits of the context", "branches", { holds: /"type":"context_edit"/ }],
  ["compaction", "compacted", { holds: /"type":"compaction"/ }],
  ["forks", "forked", { holds: /"parentSession":"/ }],
  ["records on one line", "damaged", { holds: /\}\{"type"/ }],
  ["blank lines", "damaged", { holds: /\n\s*\n/ }],
]

const OH_MY_PI: readonly Generation[] = [
  ["a line for the name", "damaged", { holds: /^\{"type":"title","v":1,"title":"A name/ }],
  ["pictures in files of their own", "image", { place: /^blobs\/[0-9a-f]{64}$/ }],
  ["agents in a folder", "subagent", { place: /_[0-9a-f-]{36}\/Counter\.jsonl$/, holds: /"type":"session_init"/ }],
  ["what agents report", "subagent", { place: /\/Counter\.md$/ }],
  ["what tools put away", "damaged", { place: /\/1\.bash\.log$/ }],
  ["a context that was cleared", "damaged", { holds: /"type":"reset_boundary"/ }],
  ["forks", "forked", { holds: /"parentSession":"/ }],
]

const VIBE: readonly Generation[] = [
  ["1.x: documents", "v1-document", { place: /^session_[^/]+\.json$/, holds: /"metadata"/ }],
  ["2.x: logs", "v2-log", { place: /^session_[^/]+\/messages\.jsonl$/, holds: /"reasoning_message_id"/ }],
  ["2.x: summaries", "damaged", { holds: /"context_boundary": "compaction"/ }],
  ["the store", "tools", { place: /^unified\/[^/]+\/chunks\/[0-9a-f]{64}\.json$/, holds: /"outcome":"failure"/ }],
  ["a journal that was not settled", "killed", { holds: /"type":"core_input"/ }],
]

const OPENHANDS: readonly Generation[] = [
  ["events", "tools", { place: /^conversations\/[0-9a-f]{32}\/events\/event-00000-[^/]+\.json$/ }],
  ["events without parents", "damaged", { holds: /"parent_id"|"a log of before, without parents"/ }],
  ["branches", "branches", { holds: /"leaf_event_id"/ }],
  ["condensations", "condensed", { holds: /"forgotten_event_ids"/ }],
  ["sub-agents", "subagent", { place: /^conversations\/[0-9a-f]{32}\/subagents\/[0-9a-f]{32}\/events\// }],
]

const CONTINUE: readonly Generation[] = [
  [
    "a document, and the list of all",
    "plain",
    { place: /^sessions\/sessions\.json$/, holds: /"dateCreated": "\d{13}"/ },
  ],
  ["results beside their calls", "tools", { holds: /"toolCallStates"/ }],
  ["results as messages", "damaged", { holds: /"role": "tool"/ }],
  ["thoughts as messages", "damaged", { holds: /"role": "thinking"/ }],
  ["what editors attach", "damaged", { holds: /"providerTitle": "file"/ }],
  ["summaries", "damaged", { holds: /"conversationSummary": "/ }],
  ["directories as URLs", "damaged", { holds: /"workspaceDirectory": "file:\/\/\// }],
]

const IFLOW: readonly Generation[] = [
  ["calls in windows", "window", { holds: /"id":"call_2".*"id":"call_3"/ }],
  ["results alone", "late-text", { holds: /"content":\{"functionResponse"/ }],
  ["results in lists", "late-text", { holds: /"responseParts":\[/ }],
  ["what is no person's", "meta", { holds: /"isMeta":true/ }],
]

const AMP: readonly Generation[] = [
  ["threads in files", "tools", { place: /^threads\/T-[^/]+\.json$/, holds: /"messageId"/ }],
  ["threads of the extension", "extension", { place: /^threads3\// }],
  ["summaries", "summed-up", { holds: /"type": "summary"/ }],
  ["commands of a person", "summed-up", { holds: /"manual_bash_invocation"/ }],
  ["threads of agents", "agents", { holds: /"mainThreadID"/ }],
]

const GEMINI_CLI: readonly Generation[] = [
  ["documents in a hash folder", "v0.28-document", { place: /^tmp\/[0-9a-f]{64}\/chats\/session-[^/]+\.json$/ }],
  ["documents in a slug folder", "v0.36-document", { place: /^tmp\/alpha\/chats\/session-[^/]+\.json$/ }],
  ["documents: agents", "v0.36-document", { holds: /"kind": "subagent"/ }],
  ["logs: messages that come again", "tools", { holds: /"type":"gemini".*"toolCalls"/ }],
  ["logs: results twice", "tools", { holds: /"type":"user","content":\[\{"functionResponse"/ }],
  ["logs: a resume", "resumed", { holds: /_response"/ }],
  ["logs: agents in a folder", "subagent", { place: /\/chats\/[0-9a-f-]{36}\/[^/]+\.jsonl$/ }],
  ["logs: compaction", "compacted", { holds: /<state_snapshot>/ }],
  ["logs: rewinds", "rewound", { holds: /"\$rewindTo"/ }],
  ["logs: outputs in files", "rewound", { place: /\/tool-outputs\/session-/ }],
  ["images", "image", { holds: /"inlineData"/ }],
]

const QWEN_CODE: readonly Generation[] = [
  ["chats", "tools", { place: /^projects\/[^/]+\/chats\/[^/]+\.jsonl$/, holds: /"provenance":"real_user"/ }],
  ["telemetry", "tools", { holds: /"subtype":"ui_telemetry"/ }],
  ["agents and what is said of them", "subagent", { place: /\/subagents\/[^/]+\/agent-[^/]+\.meta\.json$/ }],
  ["compression", "compacted", { holds: /"subtype":"chat_compression".*"compressedHistory"/ }],
  ["forks", "forked", { holds: /"forkedFrom":\{/ }],
  ["rewinds", "rewound", { holds: /"subtype":"rewind"/ }],
  ["fragments of a record", "rewound", { holds: /"uuid":"r5".*\n.*"uuid":"r5"/ }],
  ["titles", "rewound", { holds: /"subtype":"custom_title"/ }],
  ["chats that were put away", "rewound", { place: /\/chats\/archive\// }],
  ["images", "image", { holds: /"inlineData"/ }],
]

const COPILOT: readonly Generation[] = [
  ["0.0.3xx: documents", "v0.0.330-document", { place: /^history-session-state\/session_/, holds: /"chatMessages"/ }],
  ["0.0.342: flat logs", "v0.0.342-flat", { place: /^session-state\/[^/]+\.jsonl$/ }],
  ["a document inside a log", "v0.0.342-flat", { holds: /"session\.import_legacy"/ }],
  ["folders", "tools", { place: /^session-state\/[^/]+\/events\.jsonl$/ }],
  ["agents without ids", "v1.0.40-many-kinds", { holds: /"parentToolCallId":"call_3"\},"id"/ }],
  ["agents with ids", "agent", { holds: /"agentId":"/ }],
  ["commands of a person", "v1.0.40-many-kinds", { holds: /"isUserRequested":true/ }],
  ["custom tools", "v1.0.40-many-kinds", { holds: /"type":"custom"/ }],
  ["answers in chunks", "v1.0.40-many-kinds", { holds: /"chunkCount":2/ }],
  ["notifications", "v1.0.40-many-kinds", { holds: /"system\.notification"/ }],
  ["compaction, and events of the model", "compacted", { holds: /"model\.messages_snapshot"/ }],
  ["compaction: checkpoints", "compacted", { place: /\/checkpoints\/001-[^/]+\.md$/ }],
  ["images", "image", { holds: /"session\.binary_asset"/ }],
  ["resumes", "resumed", { holds: /"session\.resume"/ }],
  ["usage", "tools", { holds: /"session\.usage_record"/ }],
]

const KILO: readonly Generation[] = [
  ["rows: messages and parts", "tools", { place: /^kilo\.db$/, holds: /"table":"part"/ }],
  ["rows: a board", "tools", { holds: /"table":"kilo_board"/ }],
  ["rows: what agents leave on a board", "damaged", { holds: /"table":"kilo_board_message"/ }],
  ["rows: children", "subagent", { holds: /"parent_id":"ses_/ }],
  ["an undo that was made good", "undone", { holds: /"table":"event".*message\.removed/ }],
  ["a session of the extension of before", "migrated", { holds: /"id":"ses_migrated_/ }],
  ["compaction", "compact", { holds: /\\"type\\":\\"compaction\\"/ }],
  ["forks", "fork", { holds: /\(fork #1\)/ }],
]

const KIMI: readonly Generation[] = [
  ["kimi-cli: one file", "kimi-cli", { place: /^sessions\/[0-9a-f]{32}\/[0-9a-f-]{36}\.jsonl$/ }],
  ["kimi-cli: what is sent", "kimi-cli", { place: /\/context\.jsonl$/, holds: /"role":"_checkpoint"/ }],
  ["kimi-cli: what was sent before", "kimi-cli", { place: /\/context_1\.jsonl$/ }],
  ["kimi-cli: what was shown", "kimi-cli", { place: /\/wire\.jsonl$/, holds: /"TurnBegin"/ }],
  ["kimi-cli: agents", "kimi-cli", { place: /\/subagents\/[^/]+\/meta\.json$/ }],
  ["protocol 1.0: calls inside a message", "early", { holds: /"protocol_version":"1\.0".*"function":\{"name"/s }],
  ["protocol 1.0: taken over from kimi-cli", "early", { place: /\/ses_[^/]+\/state\.json$/ }],
  ["protocol 1.4: the directory in the log", "early", { holds: /"type":"config\.update","cwd":"/ }],
  ["protocol 1.5", "tools", { holds: /"protocol_version":"1\.5"/ }],
  ["2.x: what was said once more", "tools", { holds: /"type":"agent\.message\.appended"/ }],
  ["agents in logs of their own", "subagent", { place: /\/agents\/agent-0\/wire\.jsonl$/ }],
  ["forks", "forked", { place: /state\.json$/, holds: /"forkedFrom":\s*"session_/ }],
  ["compaction of today", "compacted", { holds: /"keptUserMessageCount":\d/ }],
  ["compaction that keeps a tail", "rewound", { holds: /"summary":"It began\.","compactedCount":1,"time"/ }],
  ["undo", "rewound", { holds: /"context\.undo"/ }],
  ["pictures in files", "rewound", { place: /\/blobs\/[0-9a-f]{64}$/ }],
  ["images", "image", { holds: /"image_url"/ }],
]

const CLINE: readonly Generation[] = [
  [
    "tasks: calls in words",
    "v2-words",
    { place: /^tasks\/\d{13}\/api_conversation_history\.json$/, holds: /<execute_command>/ },
  ],
  ["tasks: calls of tools", "v3.89-task", { place: /api_conversation_history/, holds: /"type": ?"tool_use"/ }],
  ["tasks: what was shown", "v3-shown", { place: /\/ui_messages\.json$/ }],
  ["tasks: a stretch that was cut out", "v3.89-task", { holds: /conversationHistoryDeletedRange/ }],
  ["sessions", "tools", { place: /^sessions\/[^/]+\/[^/]+\.messages\.json$/, holds: /<user_input mode=/ }],
  ["sessions: agents", "subagent", { place: /\/agent_\d+_\w+\.messages\.json$/ }],
  ["sessions: compaction", "compacted", { place: /\.compaction\.json$/, holds: /"source_message_count"/ }],
  ["sessions: forks", "compacted", { holds: /"forkedFromSessionId"/ }],
  ["sessions: ids that grew", "compacted", { holds: /"msg_x_tool_toolu_1_tool_toolu_1"/ }],
]

const ROO_CODE: readonly Generation[] = [
  ["calls in words", "words", { holds: /\] Result:/ }],
  ["condensed, and kept", "condensed", { holds: /"condenseParent"/ }],
  ["thoughts as messages", "condensed", { holds: /"type": ?"reasoning", ?"text"/ }],
  ["what is said of a task", "condensed", { place: /\/history_item\.json$/ }],
]

const XCODE: readonly Generation[] = [
  ["agents with a meta file", "agent", { place: /^projects\/[^/]+\/[^/]+\/subagents\/agent-[^/]+\.meta\.json$/ }],
  ["results that were too large", "spill", { place: /\/tool-results\/[^/]+\.txt$/ }],
  ["compaction", "compact", { holds: /"compact_boundary"/ }],
]

const COWORK: readonly Generation[] = [
  ["the virtual machine: an audit alone", "audit", { place: /\/audit\.jsonl$/, holds: /"cwd":"\/sessions\// }],
  ["on the host: logs below a task", "tools", { place: /\/local_[^/]+\/\.claude\/projects\/[^/]+\/[^/]+\.jsonl$/ }],
  ["an audit beside a log", "tools", { place: /\/audit\.jsonl$/ }],
  ["the record of a task", "tools", { place: /\/local_[^/]+\.json$/, holds: /"userSelectedFolders":/ }],
  ["agents", "agent", { place: /\/subagents\/agent-[^/]+\.meta\.json$/ }],
]

const HERMES: readonly Generation[] = [
  ["snapshots", "snapshot", { place: /^sessions\/session_[^/]+\.json$/ }],
  ["rows", "tools", { place: /^state\.db$/, holds: /"table":"messages"/ }],
  ["rows: sub-agents", "subagent", { holds: /_delegate_from/ }],
  ["rows: branches", "rewound", { holds: /_branched_from/ }],
  ["rows: what was summed up and is kept", "rewound", { holds: /"active":0,"compacted":1/ }],
  ["rows: what was summed up in place", "compacted", { holds: /CONTEXT COMPACTION/ }],
  ["rows: lists behind their mark", "rewound", { holds: /\\u0000json:/ }],
]

const DROID: readonly Generation[] = [
  ["logs without a folder", "early", { place: /^sessions\/[^/]+\.jsonl$/ }],
  ["the reminder in the first prompt", "agent", { holds: /"sessionTitle".*\n.*system-reminder/ }],
  ["sub-agents", "agent", { holds: /"callingToolUseId":"call_1"/ }],
  ["the end of a session", "agent", { holds: /"type":"session_end"/ }],
  ["the outcome of a turn", "tools", { holds: /"type":"agent_turn_outcome"/ }],
  ["the context in a message of its own", "tools", { holds: /"visibility":"llm_only"/ }],
  ["settings beside", "tools", { place: /\.settings\.json$/, holds: /"tokenUsage"/ }],
  ["forks", "forked", { holds: /"parent":"/ }],
  ["compaction", "compacted", { holds: /"type":"compaction_state"/ }],
]

const GOOSE: readonly Generation[] = [
  ["logs", "schema-9", { place: /^sessions\/[^/]+\.jsonl$/, holds: /"working_dir"/ }],
  ["rows: schema 9", "schema-9", { place: /sessions\.db$/, holds: /^(?!.*parent_session_id)/s }],
  ["rows: schema 16", "tools", { holds: /"parent_session_id"/ }],
  ["rows: the turn's surroundings", "tools", { holds: /turnContext/ }],
  ["rows: sub-agents", "subagent", { holds: /"session_type":"sub_agent"/ }],
  ["rows: compaction", "compacted", { holds: /agentVisible\\":false/ }],
  ["results that are the content itself", "compacted", { holds: /old form/ }],
]

const OPENCLAW: readonly Generation[] = [
  ["logs", "logs", { place: /sessions\/[0-9a-f-]{36}\.jsonl$/, holds: /"version":3/ }],
  ["logs that a reset put away", "logs", { place: /\.jsonl\.reset\.[^/]+$/ }],
  ["the list of sessions", "logs", { place: /sessions\.json$/, holds: /"agent:main:main"/ }],
  ["sessions nobody went on with, in an archive", "spawned", { place: /\/cold\/[0-9a-f]{64}\.jsonl\.zst$/ }],
]

const GROK: readonly Generation[] = [
  ["updates without an envelope", "damaged", { place: /updates\.jsonl$/, holds: /^\{"sessionId"/ }],
  ["updates", "tools", { place: /updates\.jsonl$/, holds: /"method":"session\/update"/ }],
  ["what the model is sent", "tools", { place: /chat_history\.jsonl$/, holds: /<user_query>/ }],
  ["sub-agents", "subagent", { place: /subagents\/[^/]+\/meta\.json$/ }],
  ["forks", "forked", { place: /summary\.json$/, holds: /"forked_at"/ }],
  ["rewinds", "compacted", { holds: /"rewind_marker"/ }],
  ["compaction", "compacted", { holds: /"compaction_checkpoint"/ }],
]

for (const [adapter, generations] of Object.entries({
  "claude-code": CLAUDE_CODE,
  codex: CODEX,
  opencode: OPENCODE,
  pi: PI,
  "oh-my-pi": OH_MY_PI,
  continue: CONTINUE,
  vibe: VIBE,
  openhands: OPENHANDS,
  iflow: IFLOW,
  amp: AMP,
  "gemini-cli": GEMINI_CLI,
  "qwen-code": QWEN_CODE,
  "copilot-cli": COPILOT,
  kilo: KILO,
  kimi: KIMI,
  cline: CLINE,
  hermes: HERMES,
  goose: GOOSE,
  openclaw: OPENCLAW,
  grok: GROK,
  droid: DROID,
  "roo-code": ROO_CODE,
  "zoo-code": ROO_CODE,
  "xcode-claude": XCODE,
  "claude-desktop": COWORK,
}))
  test.each(generations)(`${adapter}: %s, in %s`, (_what, fixture, { place = /./, holds = /./s }) => {
    const root = join(FIXTURES, adapter, fixture, "root")
    const places = readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((each) => statSync(join(root, each)).isFile())
      .filter((each) => place.test(each))
    expect(places.length).toBeGreaterThan(0)
    expect(places.some((each) => holds.test(textOf(join(root, each))))).toBe(true)
  })

const TABLES = [
  ...["session", "message", "part", "session_message", "session_input", "event", "todo"],
  ...["kilo_board", "kilo_board_message", "sessions", "messages"],
]

function textOf(path: string): string {
  if (!path.endsWith(".db")) return readFileSync(path, "latin1")
  using database = new Database(path, { readonly: true })
  const there = new Set(database.query("SELECT name FROM sqlite_master").values().flat())
  const rows = TABLES.filter((table) => there.has(table)).flatMap((table) =>
    database
      .query(`SELECT * FROM ${table}`)
      .all()
      .map((row) => JSON.stringify({ table, ...(row as object) })),
  )
  return rows.join("\n")
}
