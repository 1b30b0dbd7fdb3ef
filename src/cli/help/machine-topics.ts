/** The help topics for the owner of a machine: what to do when, what leaves the machine, how to remove pond. */

export const RECIPES = `What did we decide about this, in any client?

  pond search "why do we retry payments" --here
  pond search --mode exact ENOENT --scope all --from 2026-01-01
  pond get MESSAGE --context 5

Where did I leave off? Resume there, or in another client:

  pond list --here --limit 5
  pond resume --last
  pond restore SESSION --to codex --cwd . --dry-run

Who wrote this line, and what was in this file before an agent changed it?

  pond blame src/app.ts:42
  pond recover src/app.ts --list
  pond files SESSION

What did it all cost this month?

  pond cost --by project --from "this month"
  pond stats --by tool

Give a session to somebody who has no pond, without credentials:

  pond get SESSION -o session.html --redact

Take everything to another machine, and prove that nothing is missing:

  pond export -o all.pond
  pond import all.pond
  pond copy --to /mnt/backup/pond --verify-only

Let agents search it themselves (\`pond help plugins\`, \`pond help recall\`):

  pond init --yes --hooks
`

export const PRIVACY = `pond runs on your machine, has no account and reports to nobody. It opens a
connection only for something you asked for:

  a store in a bucket        to that bucket, with your credentials
  pond embeddings use MODEL  downloads that model once
  embeddings.endpoint        sends the text of messages to that server
  pond upgrade               reads one file of the latest release
  pond serve                 listens on this machine; others need --host and a token

A store holds what was said and read: passwords and keys too, if a session has
them. Only your user can read the store, the settings and the token. A document for
others leaves out what looks like a credential, if you ask for it:

  pond secrets
  pond get SESSION -o session.html --redact

Agents that use pond over MCP, and hooks, get text from your sessions, which goes to
the model of that agent. Hooks leave out credentials and sessions that came from
elsewhere. Keep a project out of everything, or erase it:

  pond exclude add /work/client-a
  pond erase --project /work/client-a --dry-run
  pond erase SESSION --purge --dry-run
  pond config set recall.enabled false
`

export const UNINSTALL = `First remove the setup in clients and the schedule. Files that pond changed become
what they were, byte for byte, unless somebody changed them since. The store is kept:

  pond init --undo
  pond uninstall --dry-run
  pond uninstall --yes

To delete the store too, with every session in it, even those that clients deleted:

  pond uninstall --yes --delete-store

Then remove the executable with whatever installed it:

  install.sh       sh install.sh --uninstall (which runs the first step as well)
  Homebrew         brew uninstall pond
  npm              npm uninstall -g pond
  Debian, Ubuntu   sudo apt remove pond
  Fedora, RHEL     sudo dnf remove pond
  Nix              nix profile remove pond
  container        docker volume rm pond, to delete its store

Sessions that pond restored into clients belong to them now, and stay.
`
