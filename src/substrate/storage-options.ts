/**
 * The settings of a store: how each is called in pond's configuration, in the environment (as the cloud's own tools call
 * it) and by the engine. The only code that sees credentials; it puts them nowhere but into the engine's options.
 */
import { PondError } from "../model/errors.ts"
import type { Environment } from "../platform/host/environment.ts"

/** As they stand in the configuration, below the URL of a store. */
export type Settings = Readonly<Record<string, string>>

interface Setting {
  readonly option: string
  /** The first that is set counts. */
  readonly variables: readonly string[]
  /** Credentials come from the configuration or from the environment, never mixed: they would not belong together. */
  readonly isCredential?: true
}

type SettingTable = Readonly<Record<string, Setting>>

const credential = (option: string, ...variables: string[]): Setting => ({ option, variables, isCredential: true })
const plain = (option: string, ...variables: string[]): Setting => ({ option, variables })

const S3: SettingTable = {
  access_key_id: credential("aws_access_key_id", "AWS_ACCESS_KEY_ID"),
  secret_access_key: credential("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
  session_token: credential("aws_session_token", "AWS_SESSION_TOKEN"),
  region: plain("aws_region", "AWS_REGION", "AWS_DEFAULT_REGION"),
  endpoint: plain("aws_endpoint", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
}

const GS: SettingTable = {
  application_credentials: credential("google_application_credentials", "GOOGLE_APPLICATION_CREDENTIALS"),
  service_account: credential("google_service_account"),
  service_account_key: credential("google_service_account_key"),
  endpoint: plain("pond_endpoint", "STORAGE_EMULATOR_HOST"),
}

const AZ: SettingTable = {
  account_name: plain("azure_storage_account_name", "AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME"),
  account_key: credential("azure_storage_account_key", "AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY"),
  sas_token: credential("azure_storage_sas_key", "AZURE_STORAGE_SAS_TOKEN"),
  client_id: credential("azure_client_id", "AZURE_CLIENT_ID"),
  client_secret: credential("azure_client_secret", "AZURE_CLIENT_SECRET"),
  tenant_id: credential("azure_tenant_id", "AZURE_TENANT_ID"),
  connection_string: credential("pond_connection_string", "AZURE_STORAGE_CONNECTION_STRING"),
  endpoint: plain("azure_storage_endpoint", "AZURE_STORAGE_ENDPOINT"),
}

const TABLES = { s3: S3, gs: GS, az: AZ } as const

/** Names of the settings that the configuration may have for such a store. */
export function settingNames(backend: keyof typeof TABLES): readonly string[] {
  return Object.keys(TABLES[backend])
}

export function storageOptions(
  backend: keyof typeof TABLES,
  settings: Settings,
  environment: Environment,
): Readonly<Record<string, string>> {
  const table: SettingTable = TABLES[backend]
  const unknown = Object.keys(settings).find((name) => !Object.hasOwn(table, name))
  if (unknown !== undefined) {
    throw new PondError(
      "validation_failed",
      `Unknown setting ${unknown} in the storage configuration. Known: ${Object.keys(table).join(", ")}.`,
      { details: { setting: unknown } },
    )
  }
  const hasOwnCredential = Object.keys(settings).some((name) => table[name]?.isCredential === true)
  const options: Record<string, string> = {}
  for (const [name, { option, variables, isCredential }] of Object.entries(table)) {
    const skipsEnvironment = hasOwnCredential && isCredential === true
    const fromEnvironment = skipsEnvironment ? undefined : firstSet(environment, variables)
    const value = settings[name] ?? fromEnvironment
    if (value !== undefined) options[option] = value
  }
  return COMPLETED[backend](options)
}

function firstSet(environment: Environment, variables: readonly string[]): string | undefined {
  return variables.map((variable) => environment[variable]).find((value) => value !== undefined && value !== "")
}

type Options = Record<string, string>

const COMPLETED: Readonly<Record<keyof typeof TABLES, (options: Options) => Options>> = {
  s3: completeS3,
  gs: completeGs,
  az: completeAz,
}

/** A server other than Amazon's has no host name per bucket and ignores the region, though a signature needs one. */
function completeS3(options: Options): Options {
  const endpoint = options["aws_endpoint"]
  if (endpoint === undefined) return options
  return {
    aws_region: "us-east-1",
    aws_virtual_hosted_style_request: "false",
    ...(endpoint.startsWith("http:") ? { allow_http: "true" } : {}),
    ...options,
  }
}

/** An emulator is reached through a service account that asks for no token, as the engine has no other option for it. */
function completeGs({ pond_endpoint: endpoint, ...options }: Options): Options {
  if (endpoint === undefined) return options
  const base = /^https?:\/\//.test(endpoint) ? endpoint : `http://${endpoint}`
  const account = { gcs_base_url: base, disable_oauth: true, client_email: "", private_key: "", private_key_id: "" }
  return { ...options, google_service_account_key: JSON.stringify(account), allow_http: "true" }
}

const CONNECTION_PARTS: Readonly<Record<string, string>> = {
  AccountName: "azure_storage_account_name",
  AccountKey: "azure_storage_account_key",
  SharedAccessSignature: "azure_storage_sas_key",
  BlobEndpoint: "azure_storage_endpoint",
}

/** A connection string holds the other settings in one; what is set by itself counts before it. */
function completeAz({ pond_connection_string: connection, ...given }: Options): Options {
  const options: Options = {}
  for (const part of (connection ?? "").split(";")) {
    const at = part.indexOf("=")
    const option = CONNECTION_PARTS[part.slice(0, at)]
    if (option !== undefined) options[option] = part.slice(at + 1)
  }
  Object.assign(options, given)
  return options["azure_storage_endpoint"]?.startsWith("http:") === true ? { ...options, allow_http: "true" } : options
}
