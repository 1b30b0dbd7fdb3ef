/** Objects in S3, by the client of Bun, with the credentials that the engine is given. */
import type { Location } from "../location.ts"
import { type OpenedClient, refusal } from "./object-client.ts"
import { s3AccessOf } from "./s3-access.ts"

/** Bun's own client with the credentials of this location; every key of it begins with the root. */
export function signingClient(
  location: Location,
): { readonly client: Bun.S3Client; readonly root: string } | undefined {
  const access = s3AccessOf(location)
  if (access === undefined) return undefined
  const { bucket, endpoint, credentials, root } = access
  const client = new Bun.S3Client({
    accessKeyId: credentials.accessKeyId,
    secretAccessKey: credentials.secretAccessKey,
    bucket,
    region: credentials.region ?? "us-east-1",
    ...(credentials.sessionToken === undefined ? {} : { sessionToken: credentials.sessionToken }),
    ...(endpoint === undefined ? {} : { endpoint }),
  })
  return { client, root }
}

/** Nothing where no client of ours has access. */
export function openS3Client(location: Location): OpenedClient | undefined {
  const opened = signingClient(location)
  if (opened === undefined) return undefined
  const { client, root } = opened
  return {
    root,
    client: {
      list: async (prefix, startAfter) => {
        const page = await client.list({ prefix, ...(startAfter === undefined ? {} : { startAfter }) })
        const objects = (page.contents ?? []).map(({ key, size: bytes = 0, lastModified }) => ({
          key,
          bytes,
          modifiedMs: lastModified === undefined ? 0 : Date.parse(lastModified),
        }))
        return { objects, next: page.isTruncated === true ? objects.at(-1)?.key : undefined }
      },
      stat: async (key) => {
        const found = await unlessAbsent(client.stat(key))
        return found && { bytes: found.size, modifiedMs: found.lastModified.getTime() }
      },
      read: (key, from) => unlessAbsent((from === undefined ? client.file(key) : client.file(key).slice(from)).bytes()),
      write: async (key, content) => {
        await client.write(key, content)
      },
      create: async (key, content) => {
        const url = client.presign(key, { method: "PUT", expiresIn: 600 })
        const answer = await fetch(url, { method: "PUT", headers: { "if-none-match": "*" }, body: content })
        if (answer.status === 412 || answer.status === 409) return false
        if (!answer.ok) throw refusal(answer, await answer.text())
        return true
      },
      remove: async (key) => {
        await unlessAbsent(client.delete(key))
      },
    },
  }
}

const ABSENT = ["NoSuchKey", "NotFound"]

async function unlessAbsent<Value>(pending: Promise<Value>): Promise<Value | undefined> {
  try {
    return await pending
  } catch (error) {
    const { code } = error as { readonly code?: string }
    if (code !== undefined && ABSENT.includes(code)) return undefined
    throw error
  }
}
