/**
 * Credentials that can be told by looking at them alone: the formats in which those who issue tokens write them. What is
 * told by what stands before it is in `credential-places.ts`. A form that also fits ordinary text is no form: a reader
 * stops trusting a page that is full of holes. `bun run attack redact` counts what is found and what is found wrongly.
 */
export interface CredentialForm {
  readonly kind: string
  /** The group `secret` is the secret, where it is not all of it. */
  readonly pattern: RegExp
  /** One of these stands in every text that the pattern fits: most texts have none, and are not searched. */
  readonly marks?: readonly string[]
  /** Whether what the pattern found is a secret: what stands in for one in examples and code is none. */
  readonly isSecret?: (secret: string) => boolean
}

/** `ghp_xxxxxxxxxx`, `AKIA…EXAMPLE`: what documentation writes. */
const isFilledIn = (secret: string) => !/(.)\1{9}|EXAMPLE|example|\.{3}/.test(secret)

/** Not in the middle of a word or a number. An underscore may come before it. */
const START = "(?<![A-Za-z0-9])"
const END = "(?![A-Za-z0-9])"

/** Each mark is the beginning of its token. */
function token(kind: string, marks: readonly string[], pattern: string): CredentialForm {
  return { kind, marks, pattern: new RegExp(`${START}(?:${pattern})`, "g"), isSecret: isFilledIn }
}

const PRIVATE_KEY: CredentialForm = {
  kind: "private key",
  marks: ["PRIVATE KEY"],
  // The lines of a key, as they are, quoted, numbered or with `\n` between them; also where its end was cut off.
  pattern:
    /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:(?:[\w+/=\s:,.\\"'`→|]|-(?!-)){0,20000}-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,}(?:\s|\\[nr]|[A-Za-z0-9+/=]{16,})*)/g,
}

export const TOKEN_FORMS: readonly CredentialForm[] = [
  PRIVATE_KEY,
  token("age key", ["AGE-SECRET-KEY-1"], "AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
  token("JSON web token", ["eyJ"], String.raw`eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}`),

  // Code and packages
  token("GitHub token", ["gh", "github_pat_"], String.raw`gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255}`),
  token("GitLab token", ["gl"], String.raw`gl(?:pat|dt|rt|ptt|cbt|ft|imt|agent|oas|soat|ffct)-[\w-]{20,}`),
  token("Atlassian token", ["AT"], String.raw`ATBB\w{32}${END}|ATATT3[\w=-]{50,}|ATCTT3[\w=-]{50,}`),
  token(
    "package registry token",
    ["npm_", "pypi-", "dckr_", "cio", "rubygems_", "CLOJARS_", "oy2", "AKCp"],
    String.raw`npm_[A-Za-z0-9]{36}${END}|pypi-[\w-]{50,}|dckr_(?:pat|oat)_[\w-]{20,}|cio[A-Za-z0-9]{32}${END}|rubygems_[a-f0-9]{48}|CLOJARS_[a-z0-9]{60}|oy2[a-z0-9]{43}${END}|AKCp[A-Za-z0-9]{69}${END}`,
  ),

  // Models
  token("Anthropic key", ["sk-ant-"], String.raw`sk-ant-[\w-]{20,}`),
  {
    ...token("provider key", ["sk-"], String.raw`sk-(?:(?:proj|svcacct|admin|or-v1|lf)-)?[\w-]{16,}`),
    isSecret: (key) => isFilledIn(key) && /\d/.test(key) && /\w{16}/.test(key),
  },
  token(
    "provider key",
    ["hf_", "gsk_", "xai-", "pplx-", "r8_", "tvly-", "lsv2_", "pcsk_", "fw_", "tgp_v1_", "sk_"],
    String.raw`hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{36,}|tvly-[A-Za-z0-9-]{20,}|lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,}|fw_[A-Za-z0-9]{22,}|tgp_v1_[\w-]{40,}|sk_[a-f0-9]{48}${END}`,
  ),

  // Clouds
  token("AWS key id", ["A"], `(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}${END}`),
  token("AWS key", ["ABSK"], "ABSK[A-Za-z0-9+/]{100,}={0,2}"),
  token("Google key", ["AIza", "ya29.", "GOCSPX-"], String.raw`AIza[\w-]{35}${END}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{28}`),
  {
    kind: "Azure key",
    marks: ["Key=", "sig=", "Q~"],
    pattern:
      /\b(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/=]{40,})|(?<=[?&]sig=)[A-Za-z0-9%]{40,}|(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])/g,
  },
  token("Alibaba key id", ["LTAI"], `LTAI[A-Za-z0-9]{17,21}${END}`),
  token("DigitalOcean token", ["do"], "do[opr]_v1_[a-f0-9]{64}"),
  token("Cloudflare key", ["v1.0-"], String.raw`v1\.0-[a-f0-9]{24}-[a-f0-9]{146}`),
  token(
    "hosting token",
    ["HRKU-", "fo1_", "fm1", "fm2_", "vercel_blob_rw_", "vcp_", "sbp_", "sb_secret_", "pscale_", "tskey-", "dapi"],
    String.raw`HRKU-AA[\w-]{58}|fo1_[\w-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{100,}={0,3}|vercel_blob_rw_[A-Za-z0-9]{10,}_[A-Za-z0-9]{20,}|vcp_[A-Za-z0-9]{24,}|sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,}|pscale_(?:tkn|pw|oauth)_[\w=.-]{32,64}|tskey-[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}|dapi[a-f0-9]{32}(?:-\d)?`,
  ),

  // Secrets, deployment, watching
  token(
    "secrets manager token",
    ["hv", "dp.", "ops_eyJ", "A3-"],
    String.raw`hv[sbr]\.[\w-]{24,}|dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}|ops_eyJ[\w+/=-]{100,}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`,
  ),
  token(
    "deployment token",
    [".atlasv1.", "pul-", "pnu_", "sgp_"],
    String.raw`[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}|pul-[a-f0-9]{40}|pnu_[A-Za-z0-9]{36}|sgp_[A-Za-z0-9_]{40,}`,
  ),
  token(
    "monitoring token",
    ["sntry", "glsa_", "glc_", "NRAK-"],
    String.raw`sntry[su]_[\w+/=-]{64,}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}|NRAK-[A-Z0-9]{27}`,
  ),

  // Messages
  {
    kind: "Slack token",
    marks: ["xox", "xapp-", "hooks.slack.com"],
    pattern: new RegExp(
      String.raw`${START}(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,})|\bhttps:\/\/hooks\.slack\.com\/services\/T[\w/]{20,}`,
      "g",
    ),
    isSecret: isFilledIn,
  },
  {
    kind: "Discord webhook",
    marks: ["/api/webhooks/"],
    pattern: /\bhttps:\/\/discord(?:app)?\.com\/api\/webhooks\/\d+\/[\w-]{20,}/g,
  },
  token("Discord token", ["."], String.raw`[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])`),
  token("Telegram token", [":AA"], String.raw`\d{8,10}:AA[\w-]{33}(?![\w-])`),
  token("Twilio key", ["SK"], `SK[0-9a-f]{32}${END}`),
  token("SendGrid key", ["SG."], String.raw`SG\.[\w-]{16,}\.[\w-]{16,}`),
  token(
    "mail key",
    ["key-", "-us", "xkeysib-"],
    String.raw`(?<!-)key-[0-9a-f]{32}${END}|[0-9a-f]{32}-us\d{1,2}${END}|xkeysib-[a-f0-9]{64}-\w{16}`,
  ),

  // Money and work
  token("Stripe key", ["k_", "whsec_"], "[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}"),
  token("Square token", ["sq0"], String.raw`sq0(?:atp|csp|idb)-[\w-]{22,43}`),
  token("Shopify token", ["shp"], "shp(?:at|ca|pa|ss)_[a-f0-9]{32}"),
  token(
    "service token",
    ["lin_api_", "ntn_", "figd_", "pat", "PMAK-", "tfp_", "CFPAT-", "shippo_"],
    String.raw`lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{40,}|figd_[\w-]{36,}|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|tfp_[\w.-]{40,}|CFPAT-[\w-]{43}|shippo_(?:live|test)_[a-f0-9]{40}`,
  ),
]
