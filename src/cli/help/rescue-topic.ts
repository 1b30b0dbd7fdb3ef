/** `pond help rescue`. */
export const RESCUE = `A client goes away: it is closed down, as Roo Code was in May 2026, or stops to serve
you, as Gemini CLI did in June 2026 for all without a company account, or keeps
sessions on its own servers from some version on, as Amp. Its old sessions stay on
the disk until somebody removes them. Store them first, from a backup too:

  pond sync roo-code
  pond sync roo-code --path DIR
  pond verify roo-code

One command writes a session into a client that you can use, with its calls and their
results, and says what that client cannot hold. This one does it for all of them, each
in the directory that it was held in:

  pond sql "SELECT id FROM sessions WHERE source_agent = 'roo-code'" --format ndjson |
    cut -d'"' -f4 | xargs -n 1 pond restore --to cline

  pond restore SESSION --to claude-code --cwd . --dry-run
  pond resume SESSION --to codex

Without any client they are searched, read, and handed on as a page or a file:

  pond search "what we decided" --agent roo-code
  pond get SESSION -o session.html
  pond export --agent roo-code -o roo-code.pond

Some clients delete old sessions by themselves: \`pond sync\` says which they are about
to delete, and in which setting that is.
`
