/** The help topics of agents that run by themselves or ask by themselves: hooks, jobs of CI servers, plugins. */

export const RECALL = `Hooks let a client ask pond by itself. \`pond hook prompt\` and its like read the
client's JSON from stdin, and write JSON for it, or nothing. They never fail a client.

  prompt         adds what earlier sessions of the project said that the prompt
                 needs: at most three passages, with the ids of their messages
  session-start  after a compaction: hands back the commands that worked and
                 what you settled
  pre-compact    remembers that it is about to be compacted
  session-end    stores the session, in the background

Most prompts are told nothing. A passage must share telling words with the prompt
within three sentences; a decision that you typed needs fewer than what a model
wrote, and another project needs most of them. The running session, its forks,
messages that it was told before and sessions that came from elsewhere are left
out, and so is whatever looks like a credential. Stored text is quoted line by
line, and named as content to read and not instructions.

Turn it off for one session with POND_RECALL=off in its environment, for some
projects, or altogether:

  pond config set recall.excluded /work/client-a,/work/client-b
  pond config set recall.enabled false
  pond config set recall.tokens 200
`

export const CI = `A runner is thrown away after its job, and with it the sessions of its agents.
\`pond capture\` keeps them. It runs a command, which has stdin, stdout, stderr and
the signals to itself; its exit code is pond's. What goes wrong with the keeping
is said on stderr, and fails no job.

  pond capture -- claude -p "Review this change."
  pond capture --artifacts sessions -- codex exec --json "Fix the tests."

It stores what clients leave below HOME, so the output of the command may have any
form. Of Claude Code that is told to leave no session, its \`--output-format
stream-json\` is stored; of an action, the file that it names \`execution_file\`:

  pond capture --printed execution.json

The prompt is not in that output. Others that are told to leave none leave none.
\`--artifacts\` writes each session as a page, with what looks like a credential
taken out: upload that directory. A store in a bucket gets the sessions whole, with
their credentials:

  pond capture --store s3://bucket/ci --artifacts sessions -- claude -p "…"

After a step that ran the agent by itself, such as another action, keep what went
on in the last hours:

  pond capture --since 6h --artifacts sessions --report sessions.json

On GitHub, the action in .github/actions/capture installs pond, runs this and
uploads the pages; put it after such a step with \`if: always()\`. For GitLab, the
same folder has a template.
`

export const PLUGINS = `\`pond init\` registers the MCP server with clients, and with --hooks, or asked on a
terminal, the hooks of \`pond help recall\` with Claude Code, Codex, opencode, Gemini
CLI, Qwen Code and Copilot CLI. \`pond init --undo\` gives every file back as it was:

  pond init --yes --hooks
  pond init --undo

The plugin folder of a release (pond-plugin-VERSION.tar.gz) brings both and a skill,
in the form that each client installs. It starts the pond that is on the PATH. DIR
is where you unpacked it:

  Claude Code  claude plugin marketplace add DIR
               claude plugin install pond@pond
  Gemini CLI   gemini extensions install DIR/gemini
  Codex        DIR/codex/hooks.json as ~/.codex/hooks.json; it asks you to review
               them, and takes no hook before
  Qwen Code    the hooks of DIR/qwen/hooks.json into ~/.qwen/settings.json
  Copilot CLI  DIR/copilot/hooks.json as ~/.copilot/hooks/pond.json
  opencode     DIR/opencode/pond.js into ~/.config/opencode/plugins

An agent with a shell and no MCP reads the skill:

  pond skill
  pond init --dry-run
`
