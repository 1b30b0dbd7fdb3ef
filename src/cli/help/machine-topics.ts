/** The help topics of a machine's owner: what to do when, what leaves the machine, how pond goes away again. */

export const RECIPES = `What did we decide about this, in any client?

  pond search "why do we retry payments" --here
  pond search --mode exact ENOENT --scope all --from 2026-01-01
  pond get MESSAGE --context 5

Where did I leave off? Go on there, or in another client:

  pond list --here --limit 5
  pond resume --last
  pond restore SESSION --to codex --cwd . --dry-run

Who wrote this line, and what was in this file before an agent changed it?

  pond blame src/app.ts:42
  pond recover src/app.ts --list
  pond files SESSION

What did all of it cost this month?

  pond cost --by project --from "this month"
  pond stats --by tool

Give a session to somebody who has no pond, without credentials:

  pond get SESSION -o session.html --redact

Take everything to another machine, and prove that nothing is missing:

  pond export -o all.pond
  pond import all.pond
  pond copy --to /mnt/backup/pond --verify-only

Let agents find it by themselves (\`pond help plugins\`, \`pond help recall\`):

  pond init --yes --hooks
`

export const PRIVACY = `pond runs on your machine, has no account and reports to nobody. It opens a
connection only for what you asked for:

  a store in a bucket        to that bucket, with your credentials
  pond embeddings use MODEL  downloads that model once
  embeddings.endpoint        sends the text of messages to that server
  pond upgrade               reads one file of the latest release
  pond serve                 listens on this machine; others need --host and a token

A store holds what was said and read: passwords and keys too, if a session has
them. It, the settings and the token are readable by your user alone. What pond
writes for others takes out what looks like a credential, if asked:

  pond secrets
  pond get SESSION -o session.html --redact

Agents that ask pond over MCP, and hooks, get text of your sessions, which goes to
the model of that agent. Credentials are taken out of what hooks add, and sessions
that came from elsewhere are left out. Keep a project out of everything, or erase:

  pond exclude add /work/client-a
  pond erase --project /work/client-a --dry-run
  pond erase SESSION --purge --dry-run
  pond config set recall.enabled false
`

export const UNINSTALL = `First the setup in clients and the schedule; files that pond changed become what
they were, to the byte, where nobody changed them since. The store is kept:

  pond init --undo
  pond uninstall --dry-run
  pond uninstall --yes

The store too, with every session in it, also those that clients have deleted:

  pond uninstall --yes --delete-store

Then the executable, by what installed it:

  install.sh       sh install.sh --uninstall (which runs the first step as well)
  Homebrew         brew uninstall pond
  npm              npm uninstall -g pond
  Debian, Ubuntu   sudo apt remove pond
  Fedora, RHEL     sudo dnf remove pond
  Nix              nix profile remove pond
  container        docker volume rm pond, if its store is to go

Sessions that pond restored into clients are theirs now, and stay.
`
