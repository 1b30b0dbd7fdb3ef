/**
 * The help topics: `pond help <topic>`. A test runs every line that starts with `  pond` through the argument parser.
 */
import { CI, PLUGINS, RECALL } from "./agent-topics.ts"
import { errorsText } from "./errors-topic.ts"
import { PRIVACY, RECIPES, UNINSTALL } from "./machine-topics.ts"
import { RESCUE } from "./rescue-topic.ts"
import { SHARING } from "./sharing-topic.ts"
import { HOSTED, STORAGE } from "./storage-topics.ts"

export interface Topic {
  readonly name: string
  /** One line, under 70 characters. */
  readonly summary: string
  readonly text: string
}

const CONCEPTS = `A coding agent writes each run to its own files: a session. pond reads these
files, keeps every record in a store that you own, searches them, and writes any
session back, into its own client or into another one.

  client       a program whose sessions pond reads, such as Claude Code
  session      one run of a client; each sub-agent has its own session
  message      one entry of a session, in the order of the log
  part         one piece of a message: text, reasoning, tool call, result, file
  store        where pond keeps sessions: a directory or a bucket
  export file  one .pond file with sessions, written by \`pond export\`

Nothing is lost: records that pond does not understand are stored complete and
reported. Nothing is invented: a value that the source does not have stays empty.
Nothing is changed: pond only reads the files of clients, and stored sessions are
never rewritten. Sessions that a client deletes stay in the store.

  pond sync                     store new sessions
  pond search "a few words"     search them
  pond verify                   check that all of them can be restored
`

const ADAPTERS_TEXT = `Each client has an adapter: it knows where the sessions are, what the records
mean, and how to write them back so that the client lists and resumes them.

  pond adapters list            the supported clients and verified versions
  pond adapters discover        which of them have sessions on this machine
  pond adapters disable pi      stop reading a client
  pond sync pi --path DIR       read another directory, such as a backup
  pond sync chatgpt --path ZIP  read the export of an account

\`judged by\` says how an adapter was tested: \`client\` (the client resumed what
pond wrote), \`samples\` (real sessions came back complete), \`source only\` (the
source of the client was read). \`converts\` says whether sessions of other
clients can be converted into it; sessions of every client can be converted from it.

Versions newer than the verified one are read as well. Records that are new in
them are stored complete, and \`pond status\` shows them. \`pond verify\` checks with
your own files that a restore gives back every record:

  pond verify claude-code
  pond verify --against-store   the same for sessions in the store

Restoring into another client translates: tools become the matching tools of the
target, and everything the target cannot store is listed before anything is
written.

  pond restore SESSION --to codex --dry-run
  pond resume SESSION --to claude-code

A session in an old format that its own client cannot open any more is restored
as it was. \`pond resume\` writes a new session in the current format instead;
--anew does that for any session:

  pond restore SESSION --anew

--root writes to another data directory of the client. The client finds it with
CODEX_HOME, CLAUDE_CONFIG_DIR or OPENCODE_DB; the printed command sets it. Claude
Code and Codex also keep their settings and login there, and may ask you to log in.

A thread that Codex has archived needs \`codex unarchive\` first: \`pond resume\`
runs it, and the printed command includes it.
`

const SEARCH = `A search ranks messages and groups them by session, the best session first.

  auto      words, and meaning if it is on; "double quotes" for an exact phrase
  words     keywords, in any language
  meaning   semantic search (see \`pond help embeddings\`)
  exact     exact text, any characters, newest first
  pattern   a regular expression, newest first

In a query, -word and NOT word leave messages out; OR, user:, project:web, agent:
and after:2026-01-31 work as in other search engines. Messages of a day or project
that the query names ("in March", yesterday) come first, and so do those of the
directory you are in. The result says how the query was read; put words in
"double quotes" to search for exactly them.

Dates are in your time zone: 2026-01-31, 2026-01, "20 Jan", yesterday, 7d, "last
week". Over HTTP and MCP, and in SQL, they are in UTC.

A search covers what people and models said. --scope tools searches tool calls
and their output for the exact text, --scope all also what clients inserted
(summaries, notifications, messages between agents, skills) and reasoning;
--include-subagents adds sub-agents. The result says what was not searched.

  pond search flaky login test
  pond search '"cannot find module"' --project web
  pond search --mode exact ENOENT --scope tools
  pond search deploy --from 2026-01-01 --sort recency

Each match shows its message. To read it in context:

  pond get MESSAGE --context 3
  pond get SESSION --from end --limit 5

For everything else, use SQL:

  pond sql 'SELECT project, count(*) FROM messages GROUP BY project'
`

const SQL = `A query is one SELECT in DuckDB SQL. It cannot access files or the network. Name
the columns that you need: only these are read.

  sessions    id, parent_session_id, parent_message_id, source_agent, created_at,
              project, options, title, ingested_at, host
  messages    session_id, id, ordinal, role, source_agent, project, timestamp,
              lane, content, search_text, options, ingested_at, host,
              superseded
  parts       session_id, message_id, id, ordinal, message_ordinal, type, role,
              source_agent, project, timestamp, lane, provenance, tool_name,
              call_id, is_failure, text, variant_data, options, superseded
  embeddings  session_id, message_id, piece, source_agent, project, timestamp,
              role, lane, model, ingested_at
  usage       session_id, ordinal, source_agent, project, timestamp, model,
              input_tokens, cache_read_tokens, cache_write_tokens,
              cache_write_5m_tokens, cache_write_1h_tokens, output_tokens,
              reasoning_tokens, cost_usd, cost_from

role is user, assistant, tool, or system for records that nobody wrote.
lane is main, subagent, title for a record of a title, or replay for a copy
of another session's message.
usage has a row for each response of a model; its ordinal is that of the message.
search_text is what was said. text, tool_name and variant_data belong to one part,
whose type is text, reasoning, tool_call, tool_result, file or another. Times are UTC.

fts('messages', 'some words') is a table of matching messages with a score.
options and variant_data are JSON. Put ->> in parentheses when you compare it:
(variant_data->>'$.params.command') LIKE '%git%'.
SHOW TABLES, DESCRIBE messages and EXPLAIN [ANALYZE] SELECT … work too.

  pond sql "SELECT role, count(*) FROM messages WHERE lane = 'main' GROUP BY role"
  pond sql "SELECT tool_name, count(*) FROM parts WHERE is_failure GROUP BY tool_name"
  pond sql "SELECT id, score FROM fts('messages', 'login token') ORDER BY score DESC"
  pond sql 'SELECT * FROM messages' -o messages.parquet
`

const EMBEDDINGS = `An embedding turns a message into a vector, so that a search finds messages with
the same meaning in other words. Embeddings can be rebuilt at any time. Without a
model, everything except the mode \`meaning\` works.

A model for some languages is asked in those alone; \`list\` names them. For sessions
in several languages choose one for many, such as multilingual-e5-small.

One command turns it on: it downloads a model, checks it, tests it, and sets it in
config.toml. From then on each sync embeds messages for a minute, newest first.

  pond embeddings list
  pond embeddings use multilingual-e5-small
  pond sync --only embed        all of them at once
  pond embeddings status
  pond embeddings off

Any other model works from a directory with model.onnx and tokenizer.json:

  pond embeddings use /models/my-model

How to query it is read from its own files (1_Pooling/config.json and
config_sentence_transformers.json). If they do not say, set it in config.toml:

  [embeddings]
  pooling = "mean"              # or "cls", "last"
  query_prefix = "query: "
  passage_prefix = "passage: "
  max_tokens = 256

A model of up to 384 dimensions also re-ranks the best 20 hits of a search, which
takes a quarter of a second of one core; \`rerank = false\` turns that off.

With \`url\` and \`sha256\` a model is downloaded once as a tar file. HF_ENDPOINT
names a server to use instead of huggingface.co.

The model runs on this machine in ONNX Runtime, which is part of pond. No text
leaves the machine, unless you name a server that speaks OpenAI's embeddings API: it
then receives every stored text and every query. Its key is POND_EMBEDDINGS_API_KEY.

  pond embeddings use nomic-embed-text --endpoint http://localhost:11434/v1

  [embeddings]
  exclude_projects = ["/home/me/secret"]   # never embedded, here or by a server
  requests_per_minute = 60

  pond doctor                   check that the library works here
`

const PRICES = `Clients record how many tokens a response of a model took. \`pond cost\` adds them up,
each response once, even if a fork copied it or a client wrote it several times.

  input        prompt tokens neither read from a cache nor written to one
  cache read   prompt tokens read from a cache
  cache write  prompt tokens written to a cache; --json separates those kept for 5
               minutes, for 1 hour, and for a time that was not recorded
  output       everything the model wrote, including its reasoning

The cost is what the client recorded, in US dollars. Claude Code, Codex, Gemini CLI,
Qwen Code and Copilot record none: their cost comes from the price table, whose
sources and date --json shows. A plus sign after a cost means that some of it has no
price. These are API prices: a subscription costs what it costs.

Your own prices replace the whole table:

  [prices]
  file = "/home/me/prices.json"

  {
    "unit": "US dollars for a million tokens",
    "retrieved": "2026-11-20",
    "sources": ["my contract"],
    "models": {
      "my-model": { "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite5m": 3.75 }
    }
  }

  pond cost --by day --from 30d
  pond sql "select model, sum(output_tokens) from usage group by model"
`

export const TOPICS: readonly Topic[] = [
  { name: "concepts", summary: "What pond stores, and the words it uses.", text: CONCEPTS },
  { name: "recipes", summary: "What to type for what you want to know or do.", text: RECIPES },
  { name: "storage", summary: "Where the store is, and which credentials it uses.", text: STORAGE },
  { name: "adapters", summary: "Which clients pond reads and writes, and how.", text: ADAPTERS_TEXT },
  { name: "rescue", summary: "Keep the history of a client that was shut down, or that you left.", text: RESCUE },
  { name: "search", summary: "Search modes, scopes and dates.", text: SEARCH },
  { name: "recall", summary: "What client hooks add to prompts, and how to turn it off.", text: RECALL },
  { name: "ci", summary: "Keep the sessions of agents that run in CI jobs.", text: CI },
  { name: "plugins", summary: "Plugins with the skill, MCP server and hooks, by client.", text: PLUGINS },
  { name: "sql", summary: "Tables and columns for pond sql.", text: SQL },
  { name: "prices", summary: "How tokens and cost are counted, and how to set prices.", text: PRICES },
  { name: "embeddings", summary: "Semantic search, and how to turn it on.", text: EMBEDDINGS },
  { name: "sharing", summary: "Share a session, and remove credentials.", text: SHARING },
  { name: "privacy", summary: "What leaves this machine, and when; what stays out of the store.", text: PRIVACY },
  { name: "hosted", summary: "One store for several machines or people.", text: HOSTED },
  { name: "uninstall", summary: "How to remove pond, and what stays.", text: UNINSTALL },
  { name: "errors", summary: "Exit codes and errors.", text: errorsText() },
]

/** The topic of a command line of which it is the only word. */
export function topicNamed(argv: readonly string[]): Topic | undefined {
  const words = argv.filter((word) => !word.startsWith("-"))
  return words.length === 1 ? TOPICS.find(({ name }) => name === words[0]) : undefined
}
