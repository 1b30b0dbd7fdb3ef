/** That a call failed, as the JSON says that Hermes' tools answer with. What stands in a text of it has its quotes escaped. */
export const FAILED = /[{,]\s*"(?:error"\s*:\s*"[^"]|exit_code"\s*:\s*-?[1-9]|success"\s*:\s*false)|^Error\b/
