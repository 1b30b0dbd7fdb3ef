/**
 * Claude Code, and the programs that have it inside: one codec, and what differs. Xcode gives its agent a directory of
 * its own settings. Claude desktop gives one to each task of Cowork, with a record of the task and its own log beside.
 */
import type { Environment } from "../../platform/host/environment.ts"
import type { Judgement } from "../adapter.ts"
import { joined, type Placed, type Sealed, sealedOrigin } from "../extract.ts"
import type { PartDraft } from "../parts.ts"
import { chatTextParts } from "./chat-prompts.ts"
import { desktopRoots, qoderRoots, roots, xcodeRoots } from "./roots.ts"

export interface Brand {
  readonly id: string
  readonly title: string
  readonly judged: Judgement
  readonly roots: (environment: Environment, home: string) => readonly string[]
  /** What a session of another client is known by in it comes out of its id there, and of this. */
  readonly seed: string
  /** Its files are what the client printed. */
  readonly isPrinted?: true
  /** Which part of a file's path is the project: its agents work in containers, whose directories say nothing. */
  readonly projectIn?: RegExp
  /** What a person wrote in a prompt that the program put together. */
  readonly userText?: (text: Placed<string>, injected: string | undefined) => PartDraft<"text">[]
}

export const CLAUDE_CODE: Brand = {
  id: "claude-code",
  title: "Claude Code",
  // Real files of the first, the real client of the last.
  judged: { by: "client", from: "1.0.24", to: "2.1.326", packages: ["@anthropic-ai/claude-code"] },
  roots,
  seed: "",
}

/** Never run here. Its agent is Claude Code, by whose versions it is known, and which opens the sessions that are written there. */
export const XCODE: Brand = {
  id: "xcode-claude",
  title: "Xcode (Claude)",
  judged: { by: "source only", from: "2.1.326", to: "2.1.326" },
  roots: xcodeRoots,
  seed: "xcode ",
}

/** A client of another maker that writes the logs of Claude Code: the code of its last version was read, and it was not run. */
export const QODER: Brand = {
  id: "qoder",
  title: "Qoder CLI",
  judged: { by: "source only", from: "1.1.52", to: "1.1.52" },
  roots: qoderRoots,
  seed: "qoder ",
}

/** An assistant of many chats whose agents are Claude Code, by whose versions they are known. Its code was read, and it was not run. */
export const NANOCLAW: Brand = {
  id: "nanoclaw",
  title: "NanoClaw",
  judged: { by: "source only", from: "2.1.326", to: "2.1.326" },
  roots: () => [],
  seed: "nanoclaw ",
  projectIn: /^data\/(?:v2-)?sessions\/([^/]+)\//,
  userText: chatTextParts,
}

/** In the place of an account and an organisation that are not known. */
export const NOBODY = "00000000-0000-4000-8000-000000000000/00000000-0000-4000-8000-000000000000"

/** Its versions are those of the Claude Code in it: one real audit of the first, logs of the last. */
export const DESKTOP: Brand = {
  id: "claude-desktop",
  title: "Claude desktop",
  judged: { by: "samples", from: "2.1.15", to: "2.1.326" },
  roots: desktopRoots,
  seed: "desktop ",
}

/** What `claude -p --output-format stream-json` printed. One real output of each kind, of the version that is installed here. */
export const STREAM: Brand = {
  id: "claude-stream",
  title: "Claude stream-json",
  judged: { by: "samples", from: "2.1.326", to: "2.1.326" },
  roots: () => [],
  seed: "stream ",
  isPrinted: true,
}

/** Checkpoints of entire hold transcripts of Claude Code. */
export const ENTIRE: Brand = {
  id: "entire",
  title: "entire checkpoints",
  judged: { by: "source only", from: "2.1.326", to: "2.1.326" },
  roots: () => [],
  seed: "entire ",
  isPrinted: true,
}

/** The log of the same session may be stored as well, and is another session: it holds the prompts, too. */
export function printedId(id: Sealed<string> | undefined, brand: Brand): Sealed<string> | undefined {
  return id && joined([id, sealedOrigin(brand)], ":")
}
