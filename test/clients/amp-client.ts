/** Amp of January 2026, which kept its threads in files: later ones keep them on its server alone. */
import { basename, join } from "node:path"
import { type Client, filesBelow, MODEL_URL } from "./client.ts"

const AMP = ["amp", "--dangerously-allow-all", "--no-notifications"]

export const amp: Client = {
  name: "amp",
  version: "0.0.1767830505-ga62310",
  packages: ["@sourcegraph/amp@0.0.1767830505-ga62310"],
  program: (installed, node) => [node, join(installed, "@sourcegraph/amp/dist/main.js")],
  adapter: "amp",
  folder: ".local/share/amp",
  environment: { AMP_API_KEY: "sgamp_none", AMP_URL: MODEL_URL, AMP_SKIP_UPDATE_CHECK: "1" },
  configure: () => undefined,
  begin: (prompt) => [...AMP, "-x", prompt],
  resume: (session, prompt) => [...AMP, "threads", "continue", session, "-x", prompt],
  fork: () => [],
  keeps: [".local/share/amp/threads"],
  // Its list is its server's. What it writes as a page it reads from the file.
  list: () => ["bash", "-c", 'for each in "$HOME"/.local/share/amp/threads/*.json; do basename "$each" .json; done'],
  sessions: (home) =>
    filesBelow(join(home, ".local/share/amp/threads"))
      .filter((file) => file.endsWith(".json"))
      .map((file) => ({ id: basename(file, ".json"), file, isAgent: false })),
}
