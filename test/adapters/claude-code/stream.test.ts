import { afterAll, expect, test } from "bun:test"
import { copyFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { claudeStream } from "../../../src/adapters/claude-code/adapter.ts"
import { fixturesOf, unitsOf } from "../../contract/fixtures.ts"
import { temporaryHome } from "../../support/pond-process.ts"
import { logsOfFixture, told } from "../told.ts"

const place = temporaryHome()
afterAll(() => place[Symbol.dispose]())

test("an agent speaks between the lines of its session, and is no part of the conversation", async () => {
  expect(await told(claudeStream, "agent")).toEqual([
    ["assistant: calls Task as toolu_1", "tool: answers toolu_1", "assistant: There are seven files."],
  ])
})

test("a list of messages tells what lines do, with the prompt where it was repeated", async () => {
  const [[, ...rest] = []] = await told(claudeStream, "action")
  const [lines] = await told(claudeStream, "plain")
  expect(rest).toEqual(lines ?? [])
  const [log] = await logsOfFixture(claudeStream, "action")
  expect(log?.session.id).toBe("298b914f-e6c4-494d-869a-4f16e324e3ef:claude-stream")
  expect(log?.session.project).toBe("/work/alpha")
})

test("a file that somebody points at may have any name, and is told by its first line; a folder is not searched", async () => {
  const [fixture] = fixturesOf(claudeStream).filter(({ name }) => name === "plain")
  const odd = join(place.path, "out put.log")
  copyFileSync(join(fixture?.root ?? "", "run.stream.jsonl"), odd)
  writeFileSync(join(place.path, "other.log"), '{"type":"system"}\n')
  const [unit] = await unitsOf(claudeStream, odd)
  expect(unit?.unit.files[0]?.relativePath).toBe("out-put.stream.jsonl")
  expect(claudeStream.source.isOwn?.(join(place.path, "other.log"))).toBe(false)
  expect(await unitsOf(claudeStream, join(place.path, "other.log"))).toEqual([])
  expect(await unitsOf(claudeStream, place.path)).toEqual([])
})
