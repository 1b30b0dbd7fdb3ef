/**
 * The forms of credentials that can be told by looking at them. Each says how its kind is called, and which group of the
 * pattern is the secret, where it is not all of it. A form that also fits ordinary text is no form: a reader stops trusting
 * a page that is full of holes.
 */
export interface CredentialForm {
  readonly kind: string
  readonly pattern: RegExp
  /** Whether what the pattern found as `secret` is one: what stands in for a secret in examples and code is none. */
  readonly isSecret?: (secret: string) => boolean
}

/** `$TOKEN`, `<token>`, `ghp_xxx`, `your-key`: a name for a secret, or what everybody writes in its place. */
const STAND_IN =
  /^[$<{%*[(]|x{3,}$|\.{3}|\(|^(?:your|my|some)[-_]|^(?:guest|pass(?:word|wd)?|secret|token|changeme|example|user(?:name)?|true|false|null|none|undefined|\d{1,9})$/i
const isWritten = (secret: string) => !STAND_IN.test(secret)
const isRandom = (secret: string) => isWritten(secret) && /\d/.test(secret) && /[a-z]/i.test(secret)

const SECRET_NAME =
  "(?:pass(?:word|wd|phrase)?|pwd|secret|api[_-]?key|(?:access|auth|refresh|bearer|id)[_-]?token|(?:access|private|secret)[_-]?key)"

/** Longer names first: some begin like others. */
export const CREDENTIAL_FORMS: readonly CredentialForm[] = [
  {
    kind: "private key",
    // The lines of a key, as they are, quoted, numbered or with `\n` between them; also where its end was cut off.
    pattern:
      /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:(?:[\w+/=\s:,.\\"'`→|]|-(?!-)){0,20000}-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,}(?:\s|\\[nr]|[A-Za-z0-9+/=]{16,})*)/g,
  },
  { kind: "age key", pattern: /\bAGE-SECRET-KEY-1[A-Z0-9]{50,}/g },
  {
    kind: "password in a URL",
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'`<>]{0,80}:(?<secret>[^\s@/"'`<>]{1,200})@/gi,
    isSecret: isWritten,
  },
  {
    kind: "authorization header",
    pattern:
      /\bauthorization\\?["']?\s*[:=]\s*\\?["'`]?(?:bearer|basic|token|apikey|digest)\s+(?<secret>[^\s"'`,;\\]{12,})/gi,
    isSecret: isWritten,
  },
  { kind: "bearer token", pattern: /\bbearer\s+(?<secret>[A-Za-z0-9._~+/-]{20,}=*)/gi, isSecret: isRandom },
  {
    kind: "API key header",
    pattern:
      /\bx-(?:api-key|auth-token|goog-api-key|access-token)\\?["']?\s*[:=]\s*\\?["'`]?(?<secret>[^\s"'`,;\\]{12,})/gi,
    isSecret: isWritten,
  },
  {
    kind: "cookie header",
    pattern: /\b(?:set-)?cookie:\s*(?<secret>[\w.-]{1,60}=[^\s"'`\\]{12,}[^\r\n"'`\\]*)/gi,
    isSecret: isWritten,
  },
  { kind: "JSON web token", pattern: /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g },
  { kind: "Anthropic key", pattern: /\bsk-ant-[A-Za-z0-9_-]{20,}/g },
  { kind: "GitHub token", pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})/g },
  { kind: "GitLab token", pattern: /\bgl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{20,}/g },
  { kind: "AWS key id", pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { kind: "Google key", pattern: /\b(?:AIza[\w-]{35}\b|ya29\.[\w-]{20,}|GOCSPX-[\w-]{28})/g },
  {
    kind: "Slack token",
    pattern:
      /\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}|\bhttps:\/\/hooks\.slack\.com\/services\/T[\w/]{20,}/g,
  },
  { kind: "Discord webhook", pattern: /\bhttps:\/\/discord(?:app)?\.com\/api\/webhooks\/\d+\/[\w-]{20,}/g },
  { kind: "Telegram token", pattern: /\b\d{8,10}:AA[\w-]{33}\b/g },
  { kind: "Stripe key", pattern: /\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=]{24,}/g },
  { kind: "SendGrid key", pattern: /\bSG\.[\w-]{16,}\.[\w-]{16,}/g },
  {
    kind: "package registry token",
    pattern: /\bnpm_[A-Za-z0-9]{36}\b|\bpypi-[\w-]{50,}|\bdckr_pat_[\w-]{20,}|\bcio[A-Za-z0-9]{32}\b/g,
  },
  {
    kind: "Azure key",
    pattern: /\b(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/=]{40,})|(?<=[?&]sig=)[A-Za-z0-9%]{40,}/g,
  },
  {
    kind: "provider key",
    pattern:
      /\b(?:hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{36,}|dapi[a-f0-9]{32}|do[opr]_v1_[a-f0-9]{64}|shp(?:at|ca|pa|ss)_[a-f0-9]{32}|lin_api_[A-Za-z0-9]{30,}|hvs\.[\w-]{24,}|ATATT3[\w=-]{50,}|ntn_[A-Za-z0-9]{40,}|tvly-[A-Za-z0-9-]{20,})/g,
  },
  {
    kind: "provider key",
    pattern: /\bsk-(?:(?:proj|svcacct|admin|or-v1|lf)-)?[A-Za-z0-9_-]{16,}/g,
    isSecret: (key) => /\d/.test(key) && /[A-Za-z0-9_]{16}/.test(key),
  },
  {
    kind: "assigned secret",
    pattern: new RegExp(
      String.raw`${SECRET_NAME}\\?["']?\s*(?:[:=]|=>)\s*\\?["'](?<secret>[^\s"'\\<>{}]{8,200})\\?["']`,
      "gi",
    ),
    isSecret: isRandom,
  },
  {
    kind: "assigned secret",
    pattern:
      /\b[A-Z0-9_]*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY|SECRET_KEY)(?:_\d+)?=["']?(?<secret>[^\s"'`$<>{}()[\]|;,\\&]{6,})/g,
    isSecret: isWritten,
  },
]
