/** The flags that choose sessions, for every verb whose operation takes the filters of a list. */
import { DATE_WORDS } from "./flags.ts"
import { projectFilterOf } from "./project-flag.ts"

export const SESSION_FILTERS = {
  project: {
    field: ["filters", "project"],
    summary: "Only projects whose path contains TEXT, or within a directory: . means this one.",
    convert: projectFilterOf,
  },
  agent: { field: ["filters", "source_agent"], hint: "NAME", words: "adapters" },
  host: { field: ["filters", "host"], hint: "NAME" },
  branch: { field: ["filters", "branch"], hint: "NAME" },
  file: { field: ["filters", "file"], hint: "PATH" },
  errors: { field: ["filters", "has_errors"] },
  tool: { field: ["filters", "tool"], hint: "NAME" },
  model: { field: ["filters", "model"], hint: "NAME" },
  tag: { field: ["filters", "tag"], hint: "TAG" },
  starred: { field: ["filters", "starred"] },
  from: {
    field: ["filters", "from_date"],
    hint: "DATE",
    day: "start",
    summary: `Only sessions active on or after this day: ${DATE_WORDS}.`,
  },
  to: {
    field: ["filters", "to_date"],
    hint: "DATE",
    day: "end",
    summary: "Only sessions active on or before this day.",
  },
} as const
