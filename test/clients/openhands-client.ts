/** OpenHands by its own library: its command line is a program for terminals, and made of that. */
import { basename, dirname, join } from "node:path"
import { type Client, filesBelow, MODEL_URL } from "./client.ts"
import { WITH_LIBRARY } from "./vibe-clients.ts"

const CONVERSATIONS = ".openhands/conversations"

export const openhands: Client = {
  name: "openhands",
  version: "1.58.2",
  packages: ["openhands-sdk==1.58.2", "openhands-tools==1.58.2"],
  isPython: "3.12",
  hasLooseVersions: true,
  program: (installed) => [
    ...["bash", "-c", `${WITH_LIBRARY}exec "$0" "$@"`, join(installed, "bin/python")],
    join(import.meta.dir, "play-openhands.py"),
  ],
  adapter: "openhands",
  folder: ".openhands",
  environment: {
    MODEL_URL,
    PYTHONDONTWRITEBYTECODE: "1",
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
    OPENHANDS_SUPPRESS_BANNER: "1",
    LOG_LEVEL: "ERROR",
  },
  configure: () => undefined,
  begin: (prompt) => ["openhands", "begin", prompt],
  resume: (session, prompt) => ["openhands", "resume", session, prompt],
  fork: () => [],
  list: () => ["openhands", "list"],
  keeps: [CONVERSATIONS],
  sessions: (home) =>
    filesBelow(join(home, CONVERSATIONS))
      .filter((file) => /\/[0-9a-f]{32}\/events\/event-00000-[\w-]+\.json$/.test(file))
      .map((file) => ({ id: basename(dirname(dirname(file))), file, isAgent: false })),
}
