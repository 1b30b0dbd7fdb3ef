/**
 * Credentials that are told by where they stand: after a name that means one, in a header, in a URL, on a command line.
 * The value must look made up or generated: `password: string` is code, and `password: <yours>` is documentation.
 */
import type { CredentialForm } from "./credential-forms.ts"

/** `$TOKEN`, `<token>`, `ghp_xxx`, `your-key`: a name for a secret, or what everybody writes in its place. */
const STAND_IN =
  /^[$<{%*[(]|x{3,}$|\*{3}|\.{3}|\(|^(?:your|my|some)[-_]|^(?:guest|pass(?:word|wd)?|secret|token|changeme|example|user(?:name)?|true|false|null|none|undefined|\d{1,9})$/i
const isWritten = (secret: string) => !STAND_IN.test(secret)
const isRandom = (secret: string) => isWritten(secret) && /\d/.test(secret) && /[a-z]/i.test(secret)

/** What code writes after a name: a member, a constant, a path, an algorithm. */
const CODE =
  /^[A-Za-z_$][\w$]*(?:[.:]+[\w$!?]+)+$|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[./~]|:\/\/|^(?:sha|md|argon|bcrypt|scrypt|pbkdf|base|ed|rsa|utf-?)\d*/
const isValue = (secret: string) => isRandom(secret) && !CODE.test(secret)

/** Small and large letters and digits: no word, no name and no checksum. */
const isGenerated = (secret: string) => isValue(secret) && /[a-z]/.test(secret) && /[A-Z]/.test(secret)

const PASSWORD_NAME = "(?:pass(?:word|wd|phrase)|passwd|pwd|(?<=[a-z0-9]_)pass)"
const KEY_NAME =
  "(?:secret(?:[_-]?(?:access[_-]?)?key(?:[_-]?base)?)?|client[_-]?secret|api[_-]?key|(?:access|auth|refresh|bearer|id|session|deploy|bot)[_-]?token|(?:access|private|signing|encryption)[_-]?key)"
const SECRET_NAME = `(?:${PASSWORD_NAME}|${KEY_NAME})`
/** What a value without quotes is made of, and what may come after it. */
const BARE = String.raw`[^\s"'\`\\()<>{}[\],;|]`
const BARE_END = String.raw`(?=[\s"'\`,;|}]|\\|$)`

export const PLACE_FORMS: readonly CredentialForm[] = [
  {
    kind: "password in a URL",
    marks: ["://"],
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'`<>]{0,80}:(?<secret>[^\s@/"'`<>]{1,200})@/gi,
    isSecret: isWritten,
  },
  {
    kind: "authorization header",
    pattern:
      /\bauthorization\\{0,3}["']?\s*[:=]\s*\\{0,3}["'`]?(?:bearer|basic|token|apikey|digest)\s+(?<secret>[^\s"'`,;\\]{12,})/gi,
    isSecret: isWritten,
  },
  { kind: "bearer token", pattern: /\bbearer\s+(?<secret>[A-Za-z0-9._~+/-]{20,}=*)/gi, isSecret: isRandom },
  {
    kind: "API key header",
    pattern:
      /\b(?:x-(?:api-key|auth-token|goog-api-key|access-token|vault-token|figma-token)|private-token|job-token|apikey)\\{0,3}["']?\s*[:=]\s*\\{0,3}["'`]?(?<secret>[^\s"'`,;\\]{12,})/gi,
    isSecret: (secret) => isWritten(secret) && !CODE.test(secret),
  },
  {
    kind: "cookie header",
    pattern: /\b(?:set-)?cookie:\s*(?<secret>[\w.-]{1,60}=[^\s"'`\\]{12,}[^\r\n"'`\\]*)/gi,
    isSecret: isWritten,
  },

  // Command lines
  {
    kind: "password of a command",
    marks: ["curl"],
    pattern: /\bcurl\b[^\n|;&]{0,300}?\s(?:-u|--user)[ =]?["']?[^\s:"'$]{1,80}:(?<secret>[^\s"'$]{4,200})/g,
    isSecret: isWritten,
  },
  {
    kind: "cookie header",
    marks: ["curl"],
    pattern: /\bcurl\b[^\n|;&]{0,300}?\s(?:-b|--cookie)[ =]?["'](?<secret>[\w.-]{1,60}=[^"'\n$]{12,4000})["']/g,
    isSecret: isWritten,
  },
  {
    kind: "password of a command",
    marks: ["http", "xh"],
    pattern:
      /(?:^|[\s;|&])(?:https?|xh)\s[^\n|;&]{0,200}?(?:-a|--auth)[ =]["']?[^\s:"'$]{1,80}:(?<secret>[^\s"'$]{4,200})/gm,
    isSecret: isWritten,
  },
  {
    kind: "password of a command",
    marks: ["ldap"],
    pattern: /\bldap[a-z]+\s[^\n|;&]{0,300}?-w\s*["']?(?<secret>[^\s"'$-][^\s"'$]{3,200})/g,
    isSecret: isWritten,
  },
  {
    kind: "password of a command",
    marks: ["mysql", "maria"],
    pattern: /\b(?:mysql(?:dump|admin)?|mariadb(?:-dump)?)\b[^\n|;&]{0,200}?\s-p(?<secret>[^\s"'$-][^\s"'$]{3,200})/g,
    isSecret: isWritten,
  },
  {
    kind: "password of a command",
    marks: ["sshpass", "login", "redis-cli"],
    pattern:
      /\b(?:sshpass\s+-p|docker\s+login[^\n|;&]{0,200}?\s-p|redis-cli[^\n|;&]{0,200}?\s-a)\s*["']?(?<secret>[^\s"'$-][^\s"'$]{3,200})/g,
    isSecret: isWritten,
  },
  {
    kind: "password of a command",
    marks: ["--"],
    pattern: new RegExp(
      String.raw`(?<![\w-])--(?:[a-z]+-)?(?:pass|token|${SECRET_NAME})(?:=|\s+)["']?(?<secret>(?!-)${BARE}{6,200})${BARE_END}`,
      "gi",
    ),
    isSecret: isValue,
  },

  // Files
  {
    kind: "assigned secret",
    marks: ["machine"],
    pattern: /\bmachine\s+\S+\s+(?:login\s+\S+\s+)?password\s+(?<secret>\S{4,200})/g,
    isSecret: isWritten,
  },
  {
    kind: "assigned secret",
    marks: [":"],
    pattern: /^[\w.*-]{1,200}:(?:\d{4,5}|\*):[^:\s]{1,80}:[^:\s]{1,80}:(?<secret>[^\s:]{6,200})$/gm,
    isSecret: isRandom,
  },
  {
    kind: "assigned secret",
    marks: ["_auth", "_password"],
    pattern: /:_(?:authToken|auth|password)\s*=\s*["']?(?<secret>[^\s"'$]{8,})/g,
    isSecret: isWritten,
  },
  {
    kind: "assigned secret",
    marks: ["auth"],
    pattern: /\\{0,3}"auth\\{0,3}"\s*:\s*\\{0,3}"(?<secret>[A-Za-z0-9+/]{16,}={0,2})\\{0,3}"/g,
    isSecret: isWritten,
  },
  {
    kind: "private key",
    marks: ["Key"],
    pattern: /\b(?:PrivateKey|PresharedKey)\s*=\s*(?<secret>[A-Za-z0-9+/]{43}=)/g,
  },
  {
    kind: "password in a connection string",
    marks: [";"],
    pattern: /(?:^|[;"'])\s*(?:password|pwd)\s*=\s*(?<secret>[^;\s"'$<{]{4,200})(?=;|["']|$)/gim,
    isSecret: isWritten,
  },
  {
    kind: "assigned secret",
    pattern: new RegExp(
      String.raw`${SECRET_NAME}\\{0,3}["']?\s*(?:[:=]|=>)\s*\\{0,3}["'](?<secret>[^\s"'\\<>{}]{8,4000})\\{0,3}["']`,
      "gi",
    ),
    isSecret: isRandom,
  },
  {
    kind: "assigned secret",
    pattern:
      /\b[A-Z0-9_]*(?:PASSWORD|PASSWD|[A-Z0-9]_PASS|[A-Z0-9]_PWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY|SECRET_KEY)(?:_\d+)?=["']?(?<secret>[^\s"'`$<>{}()[\]|;,\\&]{6,})/g,
    isSecret: isWritten,
  },
  // Connection strings, queries of URLs, properties, arguments that set a value: no space on either side.
  {
    kind: "assigned secret",
    marks: ["="],
    pattern: new RegExp(
      String.raw`(?:^|[\s?&;,"'=._-])(?:${PASSWORD_NAME}|${KEY_NAME})=(?<secret>[^\s"'\`\\()<>{}[\],;|&]{6,2000})`,
      "gim",
    ),
    isSecret: isValue,
  },
  {
    kind: "assigned secret",
    marks: ["</"],
    pattern: new RegExp(String.raw`<(?:[\w-]+:)?${SECRET_NAME}>(?<secret>[^\s<>]{6,400})</`, "gi"),
    isSecret: isValue,
  },
  {
    kind: "assigned secret",
    marks: ["ENV", "set "],
    pattern:
      /\b(?:ENV|set\s+-[gUx]+)\s+[A-Z0-9_]*(?:PASSWORD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY|SECRET_KEY)\s+["']?(?<secret>[^\s"'$<>{}]{8,400})/g,
    isSecret: isValue,
  },
  {
    kind: "assigned secret",
    marks: ["oken"],
    pattern: /(?:^|[\s"'])token\\{0,3}["']?\s*[:=]\s*\\{0,3}["']?(?<secret>[\w.~+/-]{24,2000}=*)(?![\w(])/gim,
    isSecret: isGenerated,
  },
  {
    kind: "password in a URL",
    marks: ["://"],
    pattern: /:\/\/(?<secret>[0-9a-f]{32})@/g,
  },
  // YAML, INI, properties: without quotes, so the value has to say more.
  {
    kind: "assigned secret",
    pattern: new RegExp(String.raw`${PASSWORD_NAME}\s*[:=]\s+(?<secret>${BARE}{8,200})${BARE_END}`, "gi"),
    isSecret: isValue,
  },
  {
    kind: "assigned secret",
    pattern: new RegExp(String.raw`(?:^|[\s._-])${KEY_NAME}\s*[:=]\s+(?<secret>${BARE}{12,400})${BARE_END}`, "gim"),
    isSecret: isValue,
  },
]
