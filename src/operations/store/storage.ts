/** Whether a store can be trusted with sessions: written to, read back, fought over by writers, and left as it was. */
import { EXIT_NOT_WHOLE } from "../../model/errors.ts"
import { parseLocation } from "../../substrate/location.ts"
import { checkStorage, type StorageCheck } from "../../substrate/storage-check.ts"
import type { Pond } from "../pond.ts"

/** Of the store of this pond, where no URL is given. Nothing is kept of it, and no session is looked at. */
export async function checkStore(pond: Pond, url?: string): Promise<StorageCheck> {
  const { environment, settings } = pond.host
  const location = parseLocation(url ?? pond.storeName(), { environment, configured: settings().values.storage })
  // A setting that pond does not know is a mistake in the configuration, and no fault of the store.
  location.storageOptions()
  return await checkStorage(location, pond.host)
}

/** A check that found something has done its work, and something was not whole. */
export function exitCodeOf({ ok }: StorageCheck): number {
  return ok ? 0 : EXIT_NOT_WHOLE
}
