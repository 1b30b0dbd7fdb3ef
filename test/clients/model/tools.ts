/** A deed in the words of this client: the tool that this very request offers for it, and the parameters that it takes. */
import { isAbsolute, join } from "node:path"
import type { Asked, Offered, Schema } from "./request.ts"
import type { Deed } from "./script.ts"

export interface Call {
  readonly name: string
  readonly namespace?: string
  /** Of a tool that takes a text. */
  readonly input?: string
  readonly params?: Readonly<Record<string, unknown>>
}

type Params = Readonly<Record<string, unknown>>

/** Nothing, where this client has no tool for it. */
export function callFor(deed: Deed, asked: Asked, cwd: string): Call | undefined {
  switch (deed.kind) {
    case "shell":
      return shell(asked, deed.command)
    case "read":
      return read(asked, deed.path, cwd)
    case "write":
      return write(asked, deed, cwd)
    case "edit":
      return edit(asked, deed, cwd)
    case "agent":
      return agent(asked, deed)
    case "wait":
      return wait(asked)
    case "plan":
      return plan(asked, deed.items)
    case "mcp":
      return remote(asked, deed)
    case "discover":
      return discover(asked, deed.query)
  }
}

/** With this parameter, where two clients have different tools of one name. oh-my-pi puts a line before the names of its own. */
function offeredOf({ tools }: Asked, names: readonly string[], parameter?: string): Offered | undefined {
  const isMeant = ({ params }: Offered) => parameter === undefined || parameter in (params?.properties ?? {})
  const isCalled = (tool: Offered, name: string) => tool.name === name || tool.name === `_${name}`
  return names.flatMap((name) => tools.find((tool) => isCalled(tool, name) && isMeant(tool)) ?? []).at(0)
}

/** Of what could be said, that which the tool has a parameter for; and something for each that it insists on. */
function call({ name, namespace, params }: Offered, said: Params): Call {
  const known = params?.properties ?? {}
  const given = Object.entries(said).filter(([key, value]) => key in known && value !== undefined)
  const names = new Set(given.map(([key]) => key))
  const insisted = (params?.required ?? []).filter((key) => !names.has(key))
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    params: Object.fromEntries([...given, ...insisted.map((key) => [key, anything(known[key])] as const)]),
  }
}

/** The smallest value that a schema allows, and of an object all that it insists on. */
export function anything(schema: Schema | undefined): unknown {
  if (schema?.enum !== undefined) return schema.enum[0]
  const known = schema?.properties ?? {}
  const object = Object.fromEntries((schema?.required ?? []).map((key) => [key, anything(known[key])] as const))
  const byType: Params = { boolean: false, number: 1, integer: 1, array: [], object }
  return byType[schema?.type ?? ""] ?? "scripted"
}

function shell(asked: Asked, command: string): Call | undefined {
  const tool =
    offeredOf(asked, [
      ...["Bash", "bash", "shell", "exec_command", "shell_command", "run_commands"],
      ...["terminal", "run_terminal_command", "run_shell_command", "Execute"],
    ]) ?? offeredOf(asked, ["exec"], "command")
  if (tool === undefined) return inCode(asked, command)
  if (tool.name === "run_commands") return call(tool, { commands: [command] })
  if (tool.params?.properties?.["command"]?.type === "array")
    return call(tool, { command: ["bash", "-lc", command], timeout_ms: 10_000 })
  return call(tool, { command, cmd: command, description: "a scripted command 説明" })
}

/** Models of 2026 call Codex' tools from a script. */
function inCode(asked: Asked, command: string): Call | undefined {
  const tool = asked.tools.find((each) => each.name === "exec" && each.isCustom === true)
  if (tool === undefined) return undefined
  const { name, namespace } = tool
  const input = `const r = await tools.exec_command({cmd: ${JSON.stringify(command)}});\ntext(r);`
  return { name, input, ...(namespace === undefined ? {} : { namespace }) }
}

function pathParams(path: string, cwd: string): Params {
  const absolute = isAbsolute(path) ? path : join(cwd, path)
  return { file_path: absolute, filePath: absolute, path: absolute, target_file: absolute, filepath: absolute }
}

function read(asked: Asked, path: string, cwd: string): Call | undefined {
  const tool = offeredOf(asked, ["Read", "read", "read_file", "read_files", "view", "file_editor"])
  if (tool?.name === "file_editor") return call(tool, { command: "view", ...pathParams(path, cwd) })
  if (tool?.name === "read_files") return call(tool, { files: [{ path: pathParams(path, cwd)["path"] }] })
  return tool === undefined ? shell(asked, `cat '${path.replaceAll("'", "'\\''")}'`) : call(tool, pathParams(path, cwd))
}

function write(asked: Asked, { path, content }: Extract<Deed, { kind: "write" }>, cwd: string): Call | undefined {
  const tool = offeredOf(asked, [
    "Write",
    "write",
    "write_file",
    "Create",
    "create",
    "create_file",
    "editor",
    "file_editor",
  ])
  if (tool !== undefined)
    return call(tool, { command: "create", ...pathParams(path, cwd), content, new_text: content, file_text: content })
  const added = content.replace(/\n$/, "").replace(/^/gm, "+")
  return patch(asked, `*** Begin Patch\n*** Add File: ${path}\n${added}\n*** End Patch\n`)
}

function edit(asked: Asked, { path, before, after }: Extract<Deed, { kind: "edit" }>, cwd: string): Call | undefined {
  const tool =
    offeredOf(asked, ["Edit", "edit", "search_replace", "replace", "edit_file", "editor", "file_editor"]) ??
    offeredOf(asked, ["patch"], "old_string")
  if (tool === undefined)
    return patch(asked, `*** Begin Patch\n*** Update File: ${path}\n@@\n-${before}\n+${after}\n*** End Patch\n`)
  return call(tool, {
    ...pathParams(path, cwd),
    ...{ old_string: before, oldString: before, oldText: before, old_text: before, old_str: before, before },
    ...{ new_string: after, newString: after, newText: after, new_text: after, new_str: after, after },
    ...{ mode: "replace", command: "str_replace" },
    edits: [{ oldText: before, newText: after }],
  })
}

function patch(asked: Asked, text: string): Call | undefined {
  const tool = offeredOf(asked, ["apply_patch"])
  if (tool === undefined) return shell(asked, `apply_patch <<'PATCH'\n${text}PATCH`)
  return tool.isCustom === true
    ? { name: tool.name, input: text }
    : call(tool, { input: text, patch: text, patchText: text })
}

function agent(asked: Asked, { description, prompt }: Extract<Deed, { kind: "agent" }>): Call | undefined {
  const tool = offeredOf(asked, [
    ...[
      "Agent",
      "Task",
      "task",
      "spawn_agent",
      "delegate_task",
      "spawn_subagent",
      "delegate",
      "sessions_spawn",
      "invoke_agent",
    ],
  ])
  if (tool === undefined) return undefined
  return call(tool, {
    ...{ description, prompt, message: prompt, task_name: "count_files", task: prompt, systemPrompt: "You count." },
    ...(tool.name === "delegate_task"
      ? {}
      : { context: description, tasks: [{ name: "Counter", agent: "task", task: prompt }], agent: "task" }),
    ...{ goal: prompt, instructions: prompt, agent_type: "general-purpose", agent_name: "generalist" },
    subagent_type: kindOfAgent(asked, tool),
    run_in_background: false,
  })
}

/** Of the kinds that a client has: each names its own for work of any sort. */
function kindOfAgent({ tools }: Asked, { name }: Offered): string {
  if (tools.some((tool) => tool.name === "AgentSwarm")) return "coder"
  return name === "task" ? "general" : "general-purpose"
}

/** Where a client goes on while its sub-agent works, it has a tool to wait for it. */
function wait(asked: Asked): Call | undefined {
  const tool = asked.tools.some(({ name }) => name === "spawn_agent")
    ? offeredOf(asked, ["wait_agent", "wait"])
    : undefined
  if (tool === undefined) return shell(asked, "echo after-the-sub-agent")
  const ids = asked.items.flatMap(({ role, text = "" }) => {
    const id = /"(?:agent_id|id|task_name)"\s*:\s*"([^"]+)"/.exec(text)?.[1]
    return role === "result" && id !== undefined ? [id] : []
  })
  const last = ids.slice(-1)
  return call(tool, { ids: last, targets: last, agent_ids: last, timeout_ms: 20_000 })
}

function plan(asked: Asked, items: readonly string[]): Call | undefined {
  const tool = offeredOf(asked, ["TodoWrite", "todowrite", "update_plan"])
  if (tool === undefined) return undefined
  const stateOf = (index: number) => (index === 0 ? "completed" : "pending")
  return call(tool, {
    plan: items.map((step, index) => ({ step, status: stateOf(index) })),
    todos: items.map((content, index) => ({
      ...{ content, status: stateOf(index) },
      ...(tool.name === "TodoWrite" ? { activeForm: content } : { priority: "high" }),
    })),
  })
}

/** Some name the tools of servers only where they are asked for them. */
function discover(asked: Asked, query: string): Call | undefined {
  const tool = offeredOf(asked, ["search_tool_functions", "tool_search", "search_tool", "ToolSearch"])
  return tool === undefined ? undefined : call(tool, { query, q: query })
}

/** Clients put the name of the server before a tool's own, each in another way. */
function remote(asked: Asked, { tool, params }: Extract<Deed, { kind: "mcp" }>): Call | undefined {
  const offered = asked.tools.find((each) => each.name === tool || each.name.endsWith(`_${tool}`))
  if (offered === undefined) return undefined
  const id = asked.items.flatMap(({ role, text = "" }) => (role === "result" ? [SESSION_ID.exec(text)?.[0] ?? ""] : []))
  const [found = ""] = id.filter((each) => each !== "")
  const said = Object.entries(params).map(([key, value]) => [key, value === "$ID" ? found : value] as const)
  const { name, namespace } = offered
  return { name, params: Object.fromEntries(said), ...(namespace === undefined ? {} : { namespace }) }
}

const SESSION_ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
