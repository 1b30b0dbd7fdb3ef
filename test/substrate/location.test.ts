import { expect, test } from "bun:test"
import { inspect } from "node:util"
import type { Environment } from "../../src/platform/host/environment.ts"
import { type LocationSources, parseLocation, within } from "../../src/substrate/location.ts"
import { settingNames } from "../../src/substrate/storage-options.ts"

const AWS: Environment = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" }

function check(
  url: string,
  want: { uri: string; shown?: string; options?: Record<string, string> },
  sources: Partial<LocationSources> = {},
) {
  const { uri, shown, storageOptions } = parseLocation(url, { environment: {}, ...sources })
  expect({ uri, shown, options: storageOptions() }).toEqual({ shown: url, options: {}, ...want })
}

test("a path and a file URL are the disk", () => {
  check("/some/where", { uri: "/some/where" })
  check("file:///some/where%20else", { uri: "/some/where else", shown: "/some/where else" })
  expect(parseLocation("here", { environment: {} }).uri).toBe(`${process.cwd()}/here`)
})

test("an S3 bucket takes its credentials as Amazon's own tools name them", () => {
  const options = {
    aws_access_key_id: "key",
    aws_secret_access_key: "secret",
    aws_session_token: "token",
    aws_region: "eu-west-1",
  }
  const environment = { ...AWS, AWS_SESSION_TOKEN: "token", AWS_DEFAULT_REGION: "eu-west-1" }
  check("s3://bucket/some/prefix", { uri: "s3://bucket/some/prefix", options }, { environment })
  check("s3://bucket", { uri: "s3://bucket" })
})

test("a server that speaks S3 is named in the URL, or by the variable of Amazon's tools", () => {
  const options = {
    aws_access_key_id: "key",
    aws_secret_access_key: "secret",
    aws_region: "us-east-1",
    aws_virtual_hosted_style_request: "false",
  }
  const secure = { ...options, aws_endpoint: "https://minio.example:9000" }
  check(
    "s3+https://minio.example:9000/bucket/prefix",
    { uri: "s3://bucket/prefix", options: secure },
    { environment: AWS },
  )
  const open = { ...options, aws_endpoint: "http://127.0.0.1:9000", allow_http: "true" }
  check("s3+http://127.0.0.1:9000/bucket", { uri: "s3://bucket", options: open }, { environment: AWS })
  const named = { ...AWS, AWS_ENDPOINT_URL: "http://127.0.0.1:9000", AWS_REGION: "here-1" }
  check("s3://bucket", { uri: "s3://bucket", options: { ...open, aws_region: "here-1" } }, { environment: named })
})

test("a Google bucket takes its service account, or the emulator, as Google's own tools name them", () => {
  const environment = { GOOGLE_APPLICATION_CREDENTIALS: "/home/me/account.json" }
  check(
    "gs://bucket/prefix",
    { uri: "gs://bucket/prefix", options: { google_application_credentials: "/home/me/account.json" } },
    { environment },
  )
  const { storageOptions } = parseLocation("gs://bucket", { environment: { STORAGE_EMULATOR_HOST: "127.0.0.1:4443" } })
  expect(storageOptions()).toEqual({
    allow_http: "true",
    google_service_account_key: expect.stringContaining('"gcs_base_url":"http://127.0.0.1:4443"'),
  })
})

test("an Azure container takes an account and a key, or a connection string, as Microsoft's own tools name them", () => {
  const options = { azure_storage_account_name: "me", azure_storage_account_key: "a2V5==" }
  const environment = { AZURE_STORAGE_ACCOUNT: "me", AZURE_STORAGE_KEY: "a2V5==" }
  check("az://container/prefix", { uri: "az://container/prefix", options }, { environment })
  const connection =
    "DefaultEndpointsProtocol=http;AccountName=me;AccountKey=a2V5==;BlobEndpoint=http://127.0.0.1:10000/me"
  check(
    "az://container",
    {
      uri: "az://container",
      options: { ...options, azure_storage_endpoint: "http://127.0.0.1:10000/me", allow_http: "true" },
    },
    { environment: { AZURE_STORAGE_CONNECTION_STRING: connection } },
  )
})

test("settings of the configuration count by the longest URL that begins the store's, and before the environment", () => {
  const configured = {
    "s3://bucket": { access_key_id: "whole", secret_access_key: "w" },
    "s3://bucket/mine/": { access_key_id: "mine", secret_access_key: "m", region: "r" },
    "s3://bucket/mi": { access_key_id: "other", secret_access_key: "o" },
  }
  const sources = { configured, environment: { ...AWS, AWS_SESSION_TOKEN: "of another key", AWS_REGION: "env" } }
  const mine = { aws_access_key_id: "mine", aws_secret_access_key: "m", aws_region: "r" }
  check("s3://bucket/mine/deep", { uri: "s3://bucket/mine/deep", options: mine }, sources)
  const whole = { aws_access_key_id: "whole", aws_secret_access_key: "w", aws_region: "env" }
  check("s3://bucket/mine2", { uri: "s3://bucket/mine2", options: whole }, sources)
})

test("a setting that pond does not know is named, with those it knows, and without its value", () => {
  const configured = { "s3://bucket": { acces_key: "very secret" } }
  const { storageOptions } = parseLocation("s3://bucket", { environment: {}, configured })
  const refused = refusalOf(storageOptions)
  expect(refused).toContain("acces_key")
  for (const name of settingNames("s3")) expect(refused).toContain(name)
  expect(refused).not.toContain("very secret")
})

const UNUSABLE: readonly (readonly [url: string, why: string])[] = [
  ["", "empty"],
  ["a\0b", "NUL"],
  ["ftp://host/path", "gs://"],
  ["s3://", "bucket"],
  ["s3+https://host", "bucket"],
  ["s3+https://host/", "bucket"],
  ["s3://bucket/prefix?secret=1", "?"],
  ["s3://bucket/a/%2e%2e/b", "bucket"],
  ["file://relative/path", "slashes"],
]

test("a URL that cannot be used says why", () => {
  for (const [url, why] of UNUSABLE.filter(([given]) => !given.includes("%2e")))
    expect(refusalOf(() => parseLocation(url, { environment: {} }))).toContain(why)
})

test("credentials in a URL are refused and not repeated", () => {
  const refused = refusalOf(() => parseLocation("s3+https://AKIAKEY:wJalrSECRET@host/bucket", { environment: {} }))
  expect(refused).toContain("credentials")
  expect(refused).not.toContain("AKIAKEY")
  expect(refused).not.toContain("wJalrSECRET")
})

test("a location that is printed or serialized shows no credential", () => {
  const environment = { AWS_ACCESS_KEY_ID: "AKIAKEY", AWS_SECRET_ACCESS_KEY: "wJalrSECRET" }
  const location = within(parseLocation("s3+https://host/bucket/prefix", { environment }), "inside")
  expect(location.uri).toBe("s3://bucket/prefix/inside")
  for (const printed of [JSON.stringify(location), inspect(location, { depth: 9 }), Bun.inspect(location)]) {
    expect(printed).toContain("s3+https://host/bucket/prefix/inside")
    expect(printed).not.toContain("AKIAKEY")
    expect(printed).not.toContain("wJalrSECRET")
  }
  expect(location.storageOptions()["aws_secret_access_key"]).toBe("wJalrSECRET")
})

function refusalOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    expect(error).toMatchObject({ code: "validation_failed" })
    return (error as Error).message
  }
  throw new Error("it was not refused")
}
