import { expect, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { packageVersion } from "../../src/platform/process/package-version.ts"

/** Lays a program out as its installer does, and asks for its version by the name that a person types. */
function versionOf(program: string, real: string, beside: Readonly<Record<string, string>>): string | undefined {
  const root = mkdtempSync(join(tmpdir(), "pond-package-"))
  try {
    // One that is run would say another version, and be told apart.
    const files = { [real]: "#!/bin/sh\necho 9.9.9\n", ...beside }
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    chmodSync(join(root, real), 0o755)
    const named = join(root, "bin", program)
    mkdirSync(dirname(named), { recursive: true })
    if (join("bin", program) !== real) symlinkSync(join(root, real), named)
    return packageVersion(named, ["@acme/agent", "acme-agent"])
  } finally {
    rmSync(root, { recursive: true })
  }
}

const npm = (name: string, manifest: string) =>
  versionOf("agent", `lib/node_modules/${name}/dist/cli.js`, { [`lib/node_modules/${name}/package.json`]: manifest })

test("npm: the manifest of the package, or of its part for this platform", () => {
  expect(npm("@acme/agent", '{"version":"1.2.3"}')).toBe("1.2.3")
  expect(npm("@acme/agent-linux-x64", '{"version":"1.2.4"}')).toBe("1.2.4")
})

test("npm: a package of another name, a broken manifest and one without a version say nothing", () => {
  expect(npm("other", '{"version":"1.2.3"}')).toBeUndefined()
  expect(npm("@acme/agent", "{")).toBeUndefined()
  expect(npm("@acme/agent", '{"version":3}')).toBeUndefined()
})

test("PyPI: what the libraries of the environment say, that of another package not", () => {
  const libraries = "lib/python3.12/site-packages"
  const environment = (name: string) =>
    versionOf("agent", "venv/bin/agent", { [`venv/${libraries}/${name}/METADATA`]: "" })
  expect(environment("acme_agent-3.0.1.dist-info")).toBe("3.0.1")
  expect(environment("acme_agent_extra-3.0.1.dist-info")).toBeUndefined()
})

test("Homebrew and installers that update themselves name the version in the path", () => {
  expect(versionOf("agent", "Cellar/agent/1.2.3_1/bin/agent", {})).toBe("1.2.3")
  expect(versionOf("agent", "share/agent/versions/2.1.400", {})).toBe("2.1.400")
  // Of a Python that holds the program, not of the program.
  expect(versionOf("agent", "pyenv/versions/3.12.1/bin/agent", {})).toBeUndefined()
})

test("a program that is one file says nothing, and is not run", () => {
  expect(versionOf("agent", "bin/agent", {})).toBeUndefined()
  expect(packageVersion("/nowhere/agent", ["@acme/agent"])).toBeUndefined()
})
