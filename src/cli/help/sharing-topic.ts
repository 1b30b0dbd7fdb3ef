/** `pond help sharing`. */
export const SHARING = `To show a session to somebody without pond, write it as one page or as Markdown.
A page is a single file that any browser opens: it loads nothing, runs nothing
from the session, and folds reasoning, tool calls with their results, diffs
and sub-agents. Bars at the top show where work, tokens and time went. Markdown
lists images by name, and reads well on GitHub.

  pond get SESSION -o session.md
  pond get SESSION -o session.html --redact
  pond get SESSION -o session.md --mode conversational
  pond get SESSION -o session.md --include-subagents
  pond get SESSION --format md --redact

Several sessions, or all of a project, become pages in a directory; its index.html
lists them:

  pond get SESSION SESSION -o pages --redact
  pond get --project shop -o pages --redact

For tools that read traces of agents, a session is a trajectory (ATIF), spans of
OpenTelemetry, or what the Hugging Face Hub shows; of several, files in a directory:

  pond get SESSION -o session.atif.json --redact
  pond get SESSION -o session.otlp.json --redact
  pond get --project shop -o dataset --format traces --redact

--redact replaces text that looks like a credential and reports how many of each
kind: known token formats, private keys, passwords in URLs and assignments,
authorization headers, and the values of secret environment variables on this
machine. Your home directory becomes ~. An ordinary word used as a password is
not detected: read a document before you share it.

To share a link, publish it in storage that you own: a bucket, a directory that a
web server serves, or a gist (needs gh). It is always redacted, and pond asks first:

  pond share SESSION --to s3://bucket/shared --expires 24h
  pond share --project shop --to pages
  pond share --list
  pond unshare SESSION

To move sessions to another pond, write an export file. It always contains the
complete records, without redaction, because a client could not resume a session
with gaps. Give it only to people who may read all of it.

  pond export -o one.pond --session SESSION
  pond import one.pond
`
