/** The answer of the API to one request of the MCP server. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every route come by here
export type ApiAnswer = { ok: boolean; status: number; body: any }

/** Sends one API request with the credential of the MCP server's user. `path` begins after `/api/v1`. */
export type CallApi = (method: 'GET' | 'POST', path: string, body?: object) => Promise<ApiAnswer>

/** Settings of `svc.config.json` for every completion (docs/api.md 23.3). */
export type Project = {
  persona?: string | { system_prompt: string }
  skills?: readonly string[]
  defaultMode?: string
  tools?: readonly object[]
  temperature?: number
  metadata?: Record<string, unknown>
}

export type Backend = {
  ask: CallApi
  project: Project
  /** Pause between two checks of a job. */
  sleep(ms: number): Promise<void>
}
