/**
 * Cline, and the extensions that were made of it: all keep tasks in folders of one form below the storage of their editor.
 * Cline itself went on to sessions of another form, which its command line and its extension share.
 */
export interface Brand {
  readonly id: string
  readonly title: string
  /** The names of its extension, under which editors keep its tasks. */
  readonly extensions: readonly string[]
  /** The versions of the extension whose source was read. */
  readonly read: { readonly from: string; readonly to: string }
}

export const CLINE: Brand = {
  id: "cline",
  title: "Cline",
  extensions: ["saoudrizwan.claude-dev"],
  read: { from: "3.89.2", to: "3.89.2" },
}

export const ROO_CODE: Brand = {
  id: "roo-code",
  title: "Roo Code",
  extensions: [
    ...["rooveterinaryinc.roo-cline", "rooveterinaryinc.roo-code-nightly", "rooveterinaryinc.roo-code"],
    ...["roovscode.roo-cline", "roovscode.roo-code"],
  ],
  read: { from: "3.53.0", to: "3.54.0" },
}

export const ZOO_CODE: Brand = {
  id: "zoo-code",
  title: "Zoo Code",
  extensions: ["zoocodeorganization.zoo-code"],
  read: { from: "3.54.1", to: "3.82.0" },
}

/** Kilo Code 7 has another form, and is a separate client. */
export const KILO_LEGACY: Brand = {
  id: "kilo-legacy",
  title: "Kilo Code 4 and 5",
  extensions: ["kilocode.kilo-code"],
  read: { from: "4.0.0", to: "5.16.0" },
}
