/**
 * Transcripts lie in `transcripts` below Claude Code's folder, though no session of it is in them. Each is a copy of a session of
 * opencode with less in it, and is left out where that session is stored. Read only where somebody asks for it by name.
 */
import { existsSync } from "node:fs"
import { basename, join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceUnit } from "../adapter.ts"
import { pointedSource } from "../shared/pointed-files.ts"

const FOLDER = "transcripts"

const pointed = pointedSource({
  names: /^(?:transcripts\/)?(?:ses_[0-9A-Za-z]{1,60}|[\w-]{1,80}\.omo)\.jsonl$/,
  depthMax: 1,
  opening: /^\s*\{"type":"(?:user|assistant|tool_use|tool_result)","timestamp":"[^"]{20,30}","(?:content|tool_name)":/,
  formOf: () => "log",
  endingOf: () => ".omo.jsonl",
})

export const source: Source = {
  ...pointed,
  askedRoots: ({ CLAUDE_CONFIG_DIR: chosen }, home) =>
    [...new Set([...(chosen ? [chosen] : []), join(home, ".claude")])].filter((root) => existsSync(join(root, FOLDER))),
  plan: (root) => [...(pointed.plan(root) as Iterable<SourceUnit | Issue>)].map(withOriginal),
}

function withOriginal(unit: SourceUnit | Issue): SourceUnit | Issue {
  const id = "files" in unit ? /^(ses_[0-9A-Za-z]+)(?:\.omo)?\.jsonl$/.exec(basename(unit.key))?.[1] : undefined
  return id === undefined ? unit : { ...(unit as SourceUnit), insteadOf: { id, source_agent: "opencode" } }
}
