/** `pond skill`: what an agent should know of pond, to be put where agents look for such. */
import { NO_FLAGS } from "../flags.ts"
import { SKILL } from "../help/skill-text.ts"
import { defineVerb } from "../verb.ts"

export const skill = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["skill", "skill > ~/.claude/skills/pond/SKILL.md", "skill --json"],
  run: () => Promise.resolve({ document: { name: "pond", text: SKILL }, render: () => SKILL }),
})
