// Reports the tool calls of OpenCode to the local service of otel-errcompact, and does what it answers:
// refuses a call that cannot work, puts a digest in place of a failed result. Whatever goes wrong, OpenCode
// does what it does without this file. `errcompact hooks install opencode` writes it, `uninstall` removes it.
import { spawn } from "node:child_process"
import { statSync } from "node:fs"
import { connect } from "node:net"
import { homedir } from "node:os"
import { isAbsolute, join, resolve } from "node:path"

// What starts the service where it is away: a program of packages/hosts/otel_errcompact_hosts/client.
const CALLER = []
const LIMIT_MS = 300
// How much longer an answer may take for each megabyte of an event: a large output has to be read.
const READING_MS = 1_500
const PAUSE_MS = 5_000
const MAX_REMEMBERED = 1_000

// The same path as `service_socket` in otel_errcompact/config.py has it.
const findSocket = () => {
  const { OTEL_ERRCOMPACT_SERVICE: named, XDG_RUNTIME_DIR: runtime, XDG_STATE_HOME: state } = process.env
  if (named) return resolve(named)
  try {
    if (runtime && isAbsolute(runtime) && statSync(runtime).uid === process.getuid())
      return join(runtime, "errcompact", "errcompact.sock")
  } catch {
    // As if there were none.
  }
  const onMac = process.platform === "darwin"
  const namedState = !onMac && state && isAbsolute(state) ? state : undefined
  const home = process.env.HOME || homedir()
  const folder = namedState ?? join(home, onMac ? "Library/Application Support" : ".local/state")
  return join(folder, "otel-errcompact", "service", "errcompact.sock")
}

let silentUntil = 0
// Answers in a row that came too late: a busy machine is late once, a service that hangs is every time.
let late = 0
let startedAt = -Infinity

const start = () => {
  if (CALLER.length === 0 || Date.now() - startedAt < PAUSE_MS) return
  startedAt = Date.now()
  try {
    const options = { detached: true, stdio: ["pipe", "ignore", "ignore"] }
    const child = spawn(CALLER[0], [...CALLER.slice(1), "opencode"], options)
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end("{}")
    child.unref()
  } catch {
    // The machine has no place for another process.
  }
}

// Ask the service; an empty object where it is away or slow.
const ask = (event) =>
  new Promise((settle) => {
    if (Date.now() < silentUntil) return settle({})
    const body = Buffer.from(JSON.stringify(event))
    const chunks = []
    let timer
    const end = (answer) => {
      clearTimeout(timer)
      connection.destroy()
      settle(answer)
    }
    const connection = connect({ path: findSocket() })
    timer = setTimeout(() => {
      late += 1
      if (late > 1) silentUntil = Date.now() + PAUSE_MS
      end({})
    }, LIMIT_MS + (READING_MS * body.length) / 2 ** 20)
    connection.on("connect", () => {
      const head =
        "POST /v1/hooks/opencode HTTP/1.1\r\nHost: errcompact\r\nContent-Type: application/json\r\n" +
        `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`
      connection.write(head)
      connection.write(body)
    })
    connection.on("data", (chunk) => chunks.push(chunk))
    connection.on("error", () => {
      start()
      end({})
    })
    connection.on("close", () => {
      const [head, ...rest] = Buffer.concat(chunks).toString("utf8").split("\r\n\r\n")
      if (head.startsWith("HTTP/1.1")) late = 0
      try {
        end(head.startsWith("HTTP/1.1 200") ? JSON.parse(rest.join("\r\n\r\n")) : {})
      } catch {
        end({})
      }
    })
  }).catch(() => ({}))

const quietly = async (event) => {
  try {
    const answer = await ask(event())
    return answer && typeof answer === "object" ? answer : {}
  } catch {
    return {}
  }
}

export const Errcompact = async ({ directory }) => {
  const parents = new Map()
  const refused = new Set()
  const remember = (known) => known.size > MAX_REMEMBERED && known.delete(known.keys().next().value)
  // It needs seconds: so it answers at the first failure.
  start()
  const of = (sessionID) => ({ sessionID, parentID: parents.get(sessionID), directory })

  return {
    "chat.message": async (input, output) => {
      const texts = () => output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      await quietly(() => ({ event: "prompt", ...of(input.sessionID), prompt: texts().join("\n") }))
    },
    "chat.params": async (input) => {
      const agent = input.agent?.name ?? input.agent
      if (agent !== "title") await quietly(() => ({ event: "turn", ...of(input.sessionID) }))
    },
    "tool.execute.before": async (input, output) => {
      const call = { tool: input.tool, callID: input.callID, args: output.args }
      const answer = await quietly(() => ({ event: "before", ...of(input.sessionID), ...call }))
      if (typeof answer.refuse !== "string") return
      refused.add(input.callID)
      remember(refused)
      throw new Error(answer.refuse)
    },
    "tool.execute.after": async (input, output) => {
      if (typeof output?.output !== "string") return
      const call = { tool: input.tool, callID: input.callID, args: input.args }
      const result = { output: output.output, metadata: { exit: output.metadata?.exit } }
      const answer = await quietly(() => ({ event: "after", ...of(input.sessionID), ...call, ...result }))
      if (typeof answer.output === "string") output.output = answer.output
    },
    event: async ({ event }) => {
      const { info, part, sessionID } = event?.properties ?? {}
      if (event?.type === "session.created" && info?.parentID) {
        parents.set(info.id, info.parentID)
        remember(parents)
      } else if (event?.type === "session.deleted") {
        const ended = info?.id ?? sessionID
        if (ended) await quietly(() => ({ event: "end", ...of(ended) }))
      } else if (event?.type === "message.part.updated" && part?.type === "tool" && part.state?.status === "error") {
        // Thrown errors, and those of MCP servers: seen and counted here, shown to the agent as they are.
        if (refused.has(part.callID)) return
        const call = { tool: part.tool, callID: part.callID, args: part.state.input, error: part.state.error }
        await quietly(() => ({ event: "error", ...of(part.sessionID), ...call }))
      }
    },
  }
}
