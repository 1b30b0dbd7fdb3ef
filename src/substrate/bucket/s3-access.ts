/** With what a client of ours reaches a store in S3: nothing where the engine finds credentials in ways that pond has not. */
import type { Location } from "../location.ts"

export interface S3Access {
  readonly bucket: string
  /** The prefix of the store, without a slash at its end. */
  readonly root: string
  /** Undefined for Amazon's own. */
  readonly endpoint: string | undefined
  readonly credentials: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken: string | undefined
    readonly region: string | undefined
  }
}

/** Nothing for other stores than S3, and where the credentials come from elsewhere than the configuration or the environment. */
export function s3AccessOf(location: Location): S3Access | undefined {
  if (location.backend !== "s3") return undefined
  const options = location.storageOptions()
  const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey } = options
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  const [bucket = "", ...prefix] = location.uri.slice("s3://".length).split("/")
  return {
    bucket,
    root: prefix.join("/"),
    endpoint: options["aws_endpoint"],
    credentials: {
      accessKeyId,
      secretAccessKey,
      sessionToken: options["aws_session_token"],
      region: options["aws_region"],
    },
  }
}
