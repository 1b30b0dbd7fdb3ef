/** What is taken for a credential, and what is left: no real one stands here, and none in one piece. */
import { describe, expect, test } from "bun:test"
import { createRedactor } from "../../../src/operations/share/redact.ts"
import { CREDENTIAL_SHAPES, LOOK_ALIKES } from "../../support/credential-shapes.ts"

const { clean } = createRedactor({})
const WORD = "aB3dE5gH7jK9mN1pQ3sT5vX7zA2cD4fG6"
const long = (length: number) => WORD.repeat(20).slice(0, length)
const upper = (length: number) => long(length).toUpperCase()

describe("taken out, and named", () => {
  test.each([
    ["GitHub token", `token ghp_${long(36)}.`, "token [redacted: GitHub token]."],
    ["GitHub token", `github_${"pat"}_${long(40)}`, "[redacted: GitHub token]"],
    ["GitLab token", `glpat-${long(20)}`, "[redacted: GitLab token]"],
    ["Anthropic key", `key: sk-ant-api03-${long(60)}`, "key: [redacted: Anthropic key]"],
    ["provider key", `sk-proj-${long(48)}`, "[redacted: provider key]"],
    ["provider key", `sk-${long(32).toLowerCase()}`, "[redacted: provider key]"],
    ["provider key", `hf_${long(34)}`, "[redacted: provider key]"],
    ["AWS key id", `AKIA${upper(16)}`, "[redacted: AWS key id]"],
    ["Google key", `AIza${long(35)}`, "[redacted: Google key]"],
    ["Slack token", `xoxb-123456789012-${long(24)}`, "[redacted: Slack token]"],
    ["Stripe key", `sk_live_${long(24)}`, "[redacted: Stripe key]"],
    ["SendGrid key", `SG.${long(22)}.${long(40)}`, "[redacted: SendGrid key]"],
    ["package registry token", `npm_${long(36)}`, "[redacted: package registry token]"],
    ["Telegram token", `123456789:AA${long(33)}`, "[redacted: Telegram token]"],
    ["JSON web token", `eyJ${long(20)}.eyJ${long(40)}.${long(43)}`, "[redacted: JSON web token]"],
    [
      "authorization header",
      `curl -H "Authorization: Bearer ${long(20)}" x`,
      'curl -H "Authorization: Bearer [redacted: authorization header]" x',
    ],
    [
      "authorization header",
      `{\\"authorization\\": \\"Basic dXNlcjpodW50ZXIyMg==\\"}`,
      `{\\"authorization\\": \\"Basic [redacted: authorization header]\\"}`,
    ],
    ["bearer token", `bearer ${long(30)}`, "bearer [redacted: bearer token]"],
    ["API key header", `x-api-key: ${long(20)}`, "x-api-key: [redacted: API key header]"],
    ["cookie header", `Cookie: sid=${long(30)}; a=b`, "Cookie: [redacted: cookie header]"],
    [
      "password in a URL",
      "postgres://app:hunter22@db:5432/x",
      "postgres://app:[redacted: password in a URL]@db:5432/x",
    ],
    ["password in a URL", "redis://:hunter22@cache", "redis://:[redacted: password in a URL]@cache"],
    ["Azure key", `AccountKey=${long(86)}==;`, "AccountKey=[redacted: Azure key];"],
    ["assigned secret", `DB_PASSWORD=hunter22`, "DB_PASSWORD=[redacted: assigned secret]"],
    ["assigned secret", `export API_KEY="${long(20)}"`, 'export API_KEY="[redacted: assigned secret]"'],
    ["assigned secret", `{"client_secret": "${long(20)}"}`, '{"client_secret": "[redacted: assigned secret]"}'],
    ["assigned secret", `password: 'Summer2024!'`, "password: '[redacted: assigned secret]'"],
  ])("%s: %s", (_, text, wanted) => expect(clean(text)).toBe(wanted))

  const begin = (kind: string) => `-----BEGIN ${kind}-----`
  const end = (kind: string) => `-----END ${kind}-----`

  test.each([
    ["as it is", `${begin("RSA PRIVATE KEY")}\n${long(64)}\n${long(64)}\n${end("RSA PRIVATE KEY")}\n`, "\n"],
    ["in JSON", `${begin("PRIVATE KEY")}\\n${long(64)}\\n${end("PRIVATE KEY")}\\n"`, '\\n"'],
    ["with line numbers", `${begin("OPENSSH PRIVATE KEY")}\n  2→${long(64)}\n  3→${end("OPENSSH PRIVATE KEY")}`, ""],
    ["without its end", `${begin("EC PRIVATE KEY")}\n${long(64)}\n${long(64)}`, ""],
  ])("a private key %s", (_, text, rest) => expect(clean(`a ${text}`)).toBe(`a [redacted: private key]${rest}`))
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
const uncoloured = (text: string) => text.replace(/\u001b\[[\d;]*m/g, "")

describe("as it stands in what agents read and print", () => {
  test("the lists are as long as they should be", () => {
    expect(CREDENTIAL_SHAPES.length).toBeGreaterThanOrEqual(96)
    expect(LOOK_ALIKES.length).toBeGreaterThanOrEqual(70)
  })
  test.each([...CREDENTIAL_SHAPES])("%s is taken out", (_, around, secret) => {
    const cleaned = uncoloured(clean(around.replace("%%", () => secret)))
    expect(cleaned).toContain("[redacted: ")
    expect(cleaned).not.toContain(uncoloured(secret).slice(4, 20))
    const [before = "", after = ""] = around.split("%%")
    expect(cleaned.startsWith(uncoloured(before).slice(0, 4))).toBe(true)
    expect(cleaned.endsWith(uncoloured(after).slice(-3))).toBe(true)
  })
  test.each(LOOK_ALIKES.map((text) => [text]))("left as it is: %j", (text) => expect(clean(text)).toBe(text))
})

test("a colour inside a text is kept, and what is found after it stands where it stood", () => {
  const secret = `ghp${"_"}${long(36)}`
  expect(clean(`\u001b[1mone\u001b[0m two \u001b[31m${secret}\u001b[0m three \u001b[32mfour\u001b[0m`)).toBe(
    "\u001b[1mone\u001b[0m two \u001b[31m[redacted: GitHub token]\u001b[0m three \u001b[32mfour\u001b[0m",
  )
})

test.each([
  "const token = getToken()",
  "max_tokens: 4096, MAX_TOKENS=4096",
  "Authorization: Bearer <token>",
  'curl -H "Authorization: Bearer $TOKEN"',
  "GH_TOKEN=ghp_xxx and GITLAB_TOKEN=glpat-...",
  "export API_KEY=your-api-key",
  "amqp://guest:guest@localhost, http://user:$PASSWORD@proxy",
  'password: "correct horse battery staple"',
  "type Login = { password: string; token?: string }",
  "-----BEGIN PRIVATE KEY----- is how it begins",
  "-----BEGIN CERTIFICATE-----",
  "class sk-fading-circle-animation-delay",
  "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
  "0a0fb0f6-d949-4c88-a1ca-9484aeb8c9f8",
  "https://example.com:8080/a@b",
  "git@github.com:someone/thing.git",
  "SECRET_NAME=$(cat /run/secrets/name)",
])("left as it is: %s", (text) => expect(clean(text)).toBe(text))

test("what this machine's own variables hold is taken out, whatever its form, and its home is told with ~", () => {
  const own = createRedactor({
    HOME: "/home/mara",
    DEPLOY_PASSWORD: "correct horse",
    NPM_TOKEN: "zzzz-9999",
    SHORT_SECRET: "abc",
    SSH_AUTH_KEY: "/run/agent/1",
    EDITOR: "correct",
  })
  const text = "cd /home/mara/shop && login 'correct horse' zzzz-9999 abc /run/agent/1; /home/marathon /srv/home/mara"
  expect(own.clean(text)).toBe(
    "cd ~/shop && login '[redacted: value of an environment variable]' [redacted: value of an environment variable] abc /run/agent/1; /home/marathon /srv/home/mara",
  )
  expect(own.replaced()).toEqual([
    { kind: "value of an environment variable", count: 2 },
    { kind: "home directory", count: 1 },
  ])
})

test("a text of megabytes that is made to be slow is not", () => {
  const texts = [
    ...["-----BEGIN PRIVATE KEY-----", "a://b:", "authorization: ", "sk-", "eyJ", "password='", "password: ", "curl "],
    ...[
      "curl -u a",
      "mysql -p ",
      "machine a password ",
      "a:1234:b:c:",
      "\u001b[31m",
      "--password ",
      ";pwd=",
      "\\n",
      "docker login ",
    ],
  ]
  for (const text of texts) {
    expect(clean(text.repeat(40_000)).length).toBeGreaterThan(text.length)
  }
})
