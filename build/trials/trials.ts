/** All trials of a release, in the order in which they are run. */
import { AGENT_TRIALS } from "./agents.ts"
import { engineTrial } from "./engine.ts"
import { imageTrial } from "./image.ts"
import { MANAGER_TRIALS } from "./managers.ts"
import { SYSTEM_TRIALS } from "./systems.ts"
import type { Trial } from "./trial.ts"

export const TRIALS: readonly Trial[] = [...SYSTEM_TRIALS, imageTrial, engineTrial, ...MANAGER_TRIALS, ...AGENT_TRIALS]
