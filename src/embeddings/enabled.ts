/** Whether the settings want vectors at all, apart from what makes them: most commands need to know no more. */

interface Wish {
  readonly enabled?: boolean | undefined
  readonly directory?: string | undefined
  readonly url?: string | undefined
}

/** Who names where a model lies wants it, unless the settings say otherwise. */
export function wantsVectors({ enabled, directory, url }: Wish): boolean {
  return enabled ?? (directory !== undefined || url !== undefined)
}
