/** Files in a bucket for others to read: of no store, each with a link that works for as long as it is signed for. */
import { PondError } from "../../model/errors.ts"
import { type Location, parseLocation } from "../location.ts"
import { signingClient } from "./s3-client.ts"

export interface PublicFolder {
  /** What messages say: the URL as it was given. */
  readonly shown: string
  upload(name: string, path: string, mediaType: string): Promise<void>
  /** Works without credentials until it expires. Made without asking the bucket. */
  signedLink(name: string, expiresSeconds: number): string
  /** Works where the bucket itself is public. */
  plainLink(name: string): string
  remove(name: string): Promise<void>
}

export function openPublicFolder(url: string, sources: Parameters<typeof parseLocation>[1]): PublicFolder {
  const location = parseLocation(url, sources)
  const opened = signingClient(location)
  if (opened === undefined) throw noAccess(location)
  const { client, root } = opened
  const keyOf = (name: string) => (root === "" ? name : `${root}/${name}`)
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (cause) {
      throw unreachable(location, cause)
    }
  }
  const plainLink = (name: string) => {
    const { origin, pathname } = new URL(client.presign(keyOf(name)))
    return `${origin}${pathname}`
  }
  return {
    shown: location.shown,
    upload: (name, path, type) => attempt(() => client.write(keyOf(name), Bun.file(path), { type })),
    signedLink: (name, expiresIn) => client.presign(keyOf(name), { expiresIn }),
    plainLink,
    remove: (name) => attempt(() => client.delete(keyOf(name))),
  }
}

function noAccess({ shown, backend }: Location): PondError {
  const why =
    backend === "s3"
      ? "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the credentials of this URL in the config file."
      : "Share to s3://, to a directory, or to gist."
  return new PondError("validation_failed", `Cannot share to ${shown}. ${why}`, { details: { to: shown } })
}

function unreachable({ shown }: Location, cause: unknown): PondError {
  return new PondError(
    "storage_unavailable",
    `${shown} does not accept the file. Check the bucket, the network and the credentials.`,
    {
      details: { to: shown },
      cause,
    },
  )
}
