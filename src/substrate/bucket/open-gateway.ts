/** Opens the gateway of a store in S3, with its caches. */
import { join } from "node:path"
import type { Location } from "../location.ts"
import type { StoreContext } from "../store-context.ts"
import { openBlockStore } from "./block-store.ts"
import { type Gateway, openGateway } from "./gateway.ts"
import { openRangeCache } from "./range-cache.ts"
import { type S3Access, s3AccessOf } from "./s3-access.ts"

/** What is read of a table is in the engine's own caches too. */
const MEMORY_BYTES = 16_000_000

/** Nothing where no client of ours has access, or it is not known in which region the bucket is. */
export function openGatewayOf(location: Location, context: StoreContext): Gateway | undefined {
  const access = s3AccessOf(location)
  if (access === undefined) return undefined
  const place = endpointOf(access)
  if (place === undefined) return undefined
  const { region } = place
  const { clock, random, log, cache } = context
  const disk =
    cache === undefined || cache.bytesMax === 0
      ? undefined
      : openBlockStore({ folder: join(cache.folder, cacheNameOf(access)), bytesMax: cache.bytesMax, random, clock })
  try {
    const credentials = { ...access.credentials, region }
    return openGateway({
      ...place,
      bucket: access.bucket,
      credentials,
      clock,
      isCold: disk?.isEmpty() !== false,
      cache: openRangeCache(disk, MEMORY_BYTES),
    })
  } catch (error) {
    log.warn(`Nothing of the bucket is cached: this machine refuses a loopback server (${String(error)}).`)
    return undefined
  }
}

function endpointOf({ bucket, endpoint, credentials: { region } }: S3Access) {
  if (endpoint !== undefined) return { endpoint, isPathStyle: true, region: region ?? "us-east-1" }
  if (region === undefined) return undefined
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
  // A certificate of Amazon's names one label before the domain.
  const isPathStyle = bucket.includes(".")
  return { endpoint: `https://${isPathStyle ? "" : `${bucket}.`}s3.${region}.${domain}`, isPathStyle, region }
}

/** Keys are those of the bucket: stores of one bucket share a cache. */
function cacheNameOf({ bucket, endpoint }: S3Access): string {
  return Bun.hash
    .xxHash3(`${endpoint ?? ""} ${bucket}`)
    .toString(16)
    .padStart(16, "0")
}
