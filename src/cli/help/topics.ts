/**
 * What pond is about, beyond its verbs: `pond help <topic>`. A line that begins with `  pond` is a command, and a test holds
 * that each of them is one that pond takes.
 */
import { ERROR_TABLE } from "../../model/errors.ts"

export interface Topic {
  readonly name: string
  /** One line, under 70 characters. */
  readonly summary: string
  readonly text: string
}

const CONCEPTS = `A coding agent writes each run into files of its own: a session. pond reads
them, keeps every record of them whole in an archive of yours, finds anything in
them, and writes any session back, into its own client or into another one.

  session   one run of a client, as its log has it; a sub-agent's is its own
  message   one entry of a session, in the order of the log
  part      one piece of a message: text, reasoning, tool call, result, file
  adapter   what reads and writes the sessions of one client
  source    where a client keeps its sessions on this machine

Nothing is lost: what pond does not understand it keeps whole, and says so.
Nothing is invented: what a source did not say stays unsaid. Nothing is changed:
pond only reads what clients wrote, and what is stored is never rewritten. A
client may delete its sessions; in the archive they stay.

  pond sync                     store what is new
  pond search "a few words"     find it again
  pond verify                   prove that all of it would come back
`

const STORAGE = `The archive is a directory of Lance tables, or a prefix in a bucket:

  /path, file:///path           this machine
  s3://bucket/prefix            Amazon S3
  s3+https://host/bucket/prefix anything that speaks S3, such as MinIO or R2
  gs://bucket/prefix            Google Cloud Storage
  az://container/prefix         Azure Blob Storage

Which one is used: --store, else POND_STORE, else store in config.toml, else a
directory below XDG_DATA_HOME. \`pond config\` shows it, and who said so.

Credentials come from where the cloud's own tools have them: AWS_ACCESS_KEY_ID
and AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT
and AZURE_STORAGE_KEY. Or from config.toml, for a URL and all below it:

  [storage."s3+https://minio.example.org/bucket"]
  access_key_id = "…"
  secret_access_key = "…"
  region = "us-east-1"

A schedule runs without your shell and its variables: there the config file is
the place. Try a store before you trust it, and move between any two:

  pond storage check s3://bucket/prefix
  pond copy --to s3://bucket/prefix
  pond export -o all.pond
  pond optimize
`

const ADAPTERS_TEXT = `An adapter knows one client: where its sessions lie, what its records mean, and
how to write them back so that the client lists and resumes them.

  pond adapters list            which there are, and what they were judged by
  pond adapters discover        what of each is on this machine
  pond adapters disable pi      leave one alone
  pond sync pi --path DIR       read a folder from elsewhere, such as a backup

Versions newer than an adapter was judged by are read all the same. What is new
in them is kept whole, counted, and shown by \`pond status\` until pond knows it.
\`pond verify\` proves for your own files that a restore gives every record back:

  pond verify claude-code
  pond verify --against-store   the same, of what the store holds already

Restoring into another client translates: tools become the tools of the target
where it has equals, and whatever it cannot hold is listed before anything is
written.

  pond restore SESSION --to codex --dry-run
  pond resume SESSION --to claude-code

A session in a form that its own client does not open, such as the folders of
opencode before its database, is restored as it was. \`pond resume\` writes it as
the client writes today, as a new session; so does --anew, for any session:

  pond restore SESSION --anew

With --root it is written into another directory of the client, and the client
is told of it: by CODEX_HOME, CLAUDE_CONFIG_DIR or OPENCODE_DB, pi by the path of
the session. What a restore prints has the variable, so that it can be copied.
Claude Code and Codex keep their settings and their login in such a directory
too, and may ask to log in there.

A thread that Codex has archived is brought back by \`codex unarchive\` before it
is opened: \`pond resume\` runs that, and what a restore prints begins with it.
`

const SEARCH = `A search ranks messages and shows them by session, the best session first.

  auto      words, and meaning where it is on; a "quoted text" to the letter
  words     by the words it holds, in any language
  meaning   by what it means (see \`pond help embeddings\`)
  exact     to the letter, any characters, newest first
  pattern   by a regular expression, newest first

Days are your own, as pond shows them: 2026-01-31, 2026-01, "20 Jan", yesterday,
7d. Over HTTP and MCP, and in SQL, they are in UTC.

What people and models said is searched unless another scope is asked for: tool
calls and their output are the scope \`tools\`, where a query is looked for to the
letter, and sub-agents come along with --include-subagents. An answer says what
it did not search.

  pond search flaky login test
  pond search '"cannot find module"' --project web
  pond search --mode exact ENOENT --scope tools
  pond search deploy --from 2026-01-01 --sort recency

Each hit names its session and message. To read there, and around it:

  pond get MESSAGE --context 3
  pond get SESSION --from end --limit 5

Where searching is not enough, ask in SQL: one SELECT over all of it.

  pond sql 'SELECT project, count(*) FROM messages GROUP BY project'
`

const SHARING = `To show a session to somebody who has no pond, write it as one Markdown document:
what was said stays open, reasoning and tool calls are folded, and images are
named. It reads well on GitHub, and nothing in it can leave its place.

  pond get SESSION -o session.md
  pond get SESSION -o session.md --mode conversational
  pond get SESSION -o session.md --include-subagents
  pond get SESSION --format md --redact

--redact replaces what looks like a credential, and says how many of which kind:
tokens of the known forms, private keys, passwords in URLs and in assignments,
authorization headers, and what the variables of this machine hold whose names
say that it is secret. Your home directory becomes ~. A password that is an
ordinary word has no form, and stays: read a document before you share it.

To give sessions to another pond, make an archive. It is whole by design, so that
any client can go on from it, and nothing is taken out of it: the records that
clients wrote are in it as they are. An archive with holes could be restored into
no client, and would keep the whole session out of the store that it is imported
to, as both have one id. Give an archive to nobody who may not read all of it.

  pond export -o one.pond --session SESSION
  pond import one.pond
`

const SQL = `The tables that a query sees, and what their columns mean.

A query is one SELECT in the SQL of DuckDB. It sees a copy of what is stored, and
neither files nor the network. Name the columns that you need: only these are read.

  sessions    id, parent_session_id, parent_message_id, source_agent, created_at,
              project, options, title, ingested_at, host
  messages    session_id, id, ordinal, role, source_agent, project, timestamp,
              lane, content, search_text, options, ingested_at, host
  parts       session_id, message_id, id, ordinal, message_ordinal, type, role,
              source_agent, project, timestamp, lane, provenance, tool_name,
              call_id, is_failure, text, variant_data, options
  embeddings  session_id, message_id, piece, source_agent, project, timestamp,
              role, lane, model, ingested_at

role is user, assistant, tool, or system for records that are no message of anybody.
lane is main, subagent, or replay for a copy of what another session holds.
search_text is what was said; text, tool_name and variant_data are of one part, whose
type is text, reasoning, tool_call, tool_result, file or another. Times are in UTC.

fts('messages', 'some words') is a table of what these words find, with a score.
options and variant_data are JSON: variant_data->>'$.params.command'.

  pond sql "SELECT role, count(*) FROM messages WHERE lane = 'main' GROUP BY role"
  pond sql "SELECT tool_name, count(*) FROM parts WHERE is_failure GROUP BY tool_name"
  pond sql "SELECT id, score FROM fts('messages', 'login token') ORDER BY score DESC"
  pond sql 'SELECT * FROM messages' -o messages.parquet
`

const EMBEDDINGS = `An embedding turns a message into a vector, so that a search finds what means the
same in other words. It is derived, never source: it can be made again at any
time, and without a model everything but the mode \`meaning\` works.

It is off until a model is configured: a directory with its files, or a tar
archive that is fetched once and held to its checksum. In config.toml:

  [embeddings]
  directory = "/models/multilingual-e5-small"   # model.onnx, tokenizer.json
or
  url = "https://models.example.org/multilingual-e5-small.tar"
  sha256 = "…"

Messages are embedded by a stage of its own of a sync, which can be left out or
run alone. \`pond status\` says how far it came.

  pond sync --only embed
  pond sync --skip embed

The model runs on this machine, in ONNX Runtime, which pond carries. No text
leaves the machine for it.

  pond doctor                   proves that the library works here
`

const HOSTED = `A pond for several people or machines is a bucket that all of them reach, and a
namespace for each tenant. Namespaces share nothing but the bucket.

  pond namespace create team-a --store s3://bucket/pond
  pond sync --store s3://bucket/pond --namespace team-a
  pond search "words" --store s3://bucket/pond --namespace team-a

Any number of machines may sync into one namespace at once, and any number of
servers may read it. A server answers HTTP and MCP:

  pond serve --store s3://bucket/pond --host 0.0.0.0 --allowed-host pond.example.org

It listens on this machine alone unless it is told otherwise, answers no host
name that it was not told, and knows no users: put what knows yours before it.
A request names its namespace, and 403 is the answer to one that was never made.
`

function errorsText(): string {
  const rows = Object.entries(ERROR_TABLE).map(
    ([code, { exit, http }]) =>
      `  ${String(exit).padStart(3)}  ${String(http)}  ${code.padEnd(20)} ${MEANINGS[code as keyof typeof ERROR_TABLE]}\n`,
  )
  return `What pond can fail with, everywhere by the same name: the exit code of a verb,
the status over HTTP, and the code in \`--json\`.

 exit http  code
${rows.join("")}    0       done
    4       done, and something was not whole: each such thing is listed

A message says what to do next. \`-v\` says what was behind it; \`pond doctor\` looks
at this machine and mends what it can.

  pond doctor --fix
`
}

const MEANINGS: Readonly<Record<keyof typeof ERROR_TABLE, string>> = {
  validation_failed: "the request, a flag or a setting is not right",
  version_unsupported: "the other side speaks another version",
  not_found: "nothing has this id or path",
  namespace_unknown: "this namespace was never made",
  storage_unavailable: "the store or a file cannot be read or written",
  conflict: "another process is at it; try again",
  would_overwrite: "something is there already; --force replaces it",
  interrupted: "stopped; what was done is whole",
  internal: "a fault of pond's own: please report it",
}

export const TOPICS: readonly Topic[] = [
  { name: "concepts", summary: "What pond keeps, and what its words mean.", text: CONCEPTS },
  { name: "storage", summary: "Where the archive lies, and with which credentials.", text: STORAGE },
  { name: "adapters", summary: "Which clients pond reads and writes, and how.", text: ADAPTERS_TEXT },
  { name: "search", summary: "RunHooks to find what was said or done.", text: SEARCH },
  { name: "sql", summary: "The tables and columns that a query sees.", text: SQL },
  { name: "embeddings", summary: "Finding by meaning, and what it needs.", text: EMBEDDINGS },
  { name: "sharing", summary: "Giving a session to others, and what to take out.", text: SHARING },
  { name: "hosted", summary: "One pond for several machines or people.", text: HOSTED },
  { name: "errors", summary: "Exit codes and errors, and what they mean.", text: errorsText() },
]

/** The topic of a command line of which it is the only word. */
export function topicNamed(argv: readonly string[]): Topic | undefined {
  const words = argv.filter((word) => !word.startsWith("-"))
  return words.length === 1 ? TOPICS.find(({ name }) => name === words[0]) : undefined
}
