/** aider's models call no tools: edits stand in their answers, and the program carries them out. */
import type { Vocabulary } from "../shared/vocabulary.ts"

export const vocabulary: Vocabulary = []
