/** The help topics about agents without a person at the keyboard: hooks, CI jobs, plugins. */

export const RECALL = `Hooks let a client ask pond automatically. \`pond hook prompt\` and the other events
read the client's JSON from stdin, and write JSON for it, or nothing. A hook that
fails never stops the client.

  prompt         adds what earlier sessions of the project said about it: at most
                 three passages, with the ids of their messages
  session-start  after a compaction: adds the commands that worked and what you
                 decided, with the ids of their messages
  pre-compact    notes that the session is about to be compacted
  session-end    stores the session, in the background

Nothing is added to most prompts. A passage must share distinctive words with the
prompt within three sentences: fewer of them if you typed it as a decision, most of
them if it is from another project. The running session, its forks, messages that
were added before and sessions that came from elsewhere are left out, and so is
anything that looks like a credential. Stored text is quoted line by line and marked
as content to read, not as instructions.

Turn it off for one session with POND_RECALL=off in its environment, for some
projects, or altogether. What is added to a prompt, citations included, is never
longer than \`recall.tokens\`:

  pond config set recall.excluded /work/client-a,/work/client-b
  pond config set recall.enabled false
  pond config set recall.tokens 200
`

export const CI = `A runner is thrown away after its job, and with it the sessions of its agents.
\`pond capture\` keeps them. It runs a command, passes stdin, stdout, stderr and
signals through, and exits with the command's exit code. Problems with storing are
printed to stderr and never fail the job; after ten minutes it is given up.

  pond capture -- claude -p "Review this change."
  pond capture --artifacts sessions -- codex exec --json "Fix the tests."

It stores what clients write below HOME, so the output of the command may have any
form. If Claude Code is told to keep no session, its \`--output-format stream-json\`
is stored instead; for an action, name the file that it calls \`execution_file\`:

  pond capture --printed execution.json

The prompt is not in that output. Other clients that are told to keep no session
leave nothing to store. \`--artifacts\` writes each session as a page without what
looks like a credential: upload that directory. A store in a bucket gets complete
sessions, credentials included:

  pond capture --store s3://bucket/ci --artifacts sessions -- claude -p "…"

After a step that ran the agent itself, such as another action, store the sessions
of the last hours:

  pond capture --since 6h --artifacts sessions --report sessions.json

On GitHub, the action in .github/actions/capture installs pond, runs this and
uploads the pages; put it after such a step with \`if: always()\`. For GitLab, the
same folder has a template.
`

export const PLUGINS = `\`pond init\` adds the MCP server to clients. With --hooks, or if you say yes on a
terminal, it also adds the hooks of \`pond help recall\` to Claude Code, Codex,
opencode, Gemini CLI, Qwen Code and Copilot CLI. \`pond init --undo\` restores every
file as it was:

  pond init --yes --hooks
  pond init --undo

The plugin folder of a release (pond-plugin-VERSION.tar.gz) contains both and a
skill, in the form that each client installs. It runs the pond on your PATH. DIR is
where you unpacked it:

  Claude Code  claude plugin marketplace add DIR
               claude plugin install pond@pond
  Gemini CLI   gemini extensions install DIR/gemini
  Codex        DIR/codex/hooks.json as ~/.codex/hooks.json; it asks you to review
               them, and runs none before that
  Qwen Code    the hooks of DIR/qwen/hooks.json into ~/.qwen/settings.json
  Copilot CLI  DIR/copilot/hooks.json as ~/.copilot/hooks/pond.json
  opencode     DIR/opencode/pond.js into ~/.config/opencode/plugins

An agent that has a shell but no MCP can read the skill:

  pond skill
  pond init --dry-run
`
