/** `pond help rescue`. */
export const RESCUE = `Clients go away. One is shut down, as Roo Code was in May 2026; one stops serving
you, as Gemini CLI did in June 2026 for everyone without a company account; one moves
its sessions to its own servers, as Amp did. The old sessions stay on disk until
somebody removes them. Store them first, or read them from a backup:

  pond sync roo-code
  pond sync roo-code --path DIR
  pond verify roo-code

One command stores them and writes all of them into a client that you still use, each
into the directory that it ran in, with its tool calls and results. It lists what that
client cannot store, names what it refused, and continues where an earlier run stopped:

  pond rescue roo-code --to cline --dry-run
  pond rescue roo-code --to cline
  pond rescue iflow --to claude-code --path DIR --cwd .

A single session:

  pond restore SESSION --to claude-code --cwd . --dry-run
  pond resume SESSION --to codex

You need no client to search and read them, or to pass them on as a page or a file:

  pond search "what we decided" --agent roo-code
  pond get SESSION -o session.html
  pond export --agent roo-code -o roo-code.pond

Of sessions that Claude Code or Codex has deleted, their list of prompts is left.
Prompts whose session is neither there nor stored are kept as what they are, a
record of prompts:

  pond sync claude-prompts
  pond sync codex-prompts

Of sessions of opencode, its plugin oh-my-opencode left copies with less in them:

  pond sync oh-my-opencode

Some clients delete old sessions automatically: \`pond sync\` lists those that are
about to be deleted, and names the setting that controls it.
`
