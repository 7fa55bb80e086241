// Report a failure to the local service and print what the agent reads for it: `node client.ts` (Node 22.18 or newer).
// `errcompact serve` must run; it needs no package.
import { request } from "node:http";

interface CallAnswer {
  outcome: "success" | "failure" | "ignored" | "counted";
  digest: string;
  verdict: { stopped: boolean; reason: string };
}

const runtime = process.env.XDG_RUNTIME_DIR;
const state = process.env.XDG_STATE_HOME ?? `${process.env.HOME}/.local/state`;
const folder = runtime ? `${runtime}/errcompact` : `${state}/otel-errcompact/service`;
const socketPath = process.env.OTEL_ERRCOMPACT_SERVICE ?? `${folder}/errcompact.sock`;

function post(path: string, report: object): Promise<CallAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, method: "POST" }, async (answer) => {
      const text = (await answer.setEncoding("utf8").toArray()).join("");
      answer.statusCode === 200 ? resolve(JSON.parse(text)) : reject(new Error(text));
    });
    asked.on("error", reject).end(JSON.stringify(report));
  });
}

const call = { run: "session-1", tool: "sql", arguments: { query: "select * from orders" } };
const answer = await post("/v1/failures", { ...call, call_id: "c1", text: "no such table: orders", exit_status: 1 });
console.log(answer.digest);
if (answer.verdict.stopped) console.log(answer.verdict.reason);
