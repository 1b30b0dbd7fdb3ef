/**
 * Records of prompts, which are no sessions: what was answered is not known, and no client goes on with them. Told by the id of
 * their adapter, because lists ask for many and load no codec for it.
 */
export function isPromptsOnly(sourceAgent: string): boolean {
  return /^[a-z]+-prompts$/.test(sourceAgent)
}
