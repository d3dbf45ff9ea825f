import { parseUntrustedJson } from '../../../kernel/json'
import { type Outbound, OutboundFailure } from '../../../kernel/outbound'
import { storable } from '../../../kernel/text'
import { StepFailure, type StepRunner } from './step'

const TIMEOUT_S = 30
const MAX_BYTES = 256 * 1024

/** Calls an address through the guarded door (contract 10). Every status is an answer; what gets none fails. */
export const createHttpStep =
  (outbound: Outbound): StepRunner<'http'> =>
  async ({ config, call, key }) => {
    const {
      url,
      method = config.body === undefined ? 'GET' : 'POST',
      headers = {},
      body,
      timeout_seconds = TIMEOUT_S,
    } = config
    const isText = typeof body === 'string'
    const sent = body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }
    const type: Record<string, string> = body === undefined || isText ? {} : { 'content-type': 'application/json' }
    try {
      const answer = await outbound.fetchPublic(url, {
        method,
        headers: {
          'user-agent': 'svc-workflows/1',
          'idempotency-key': key,
          ...type,
          ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        },
        ...sent,
        maxBytes: MAX_BYTES,
        timeoutMs: timeout_seconds * 1_000,
        signal: call.signal,
      })
      return { output: { status: answer.status, headers: answer.headers, body: bodyOf(answer) } }
    } catch (error) {
      if (error instanceof OutboundFailure && error.kind !== 'aborted')
        throw new StepFailure(`The call failed: ${error.message}.`)
      throw error
    }
  }

/** Whoever answers may send what no database can store. */
function bodyOf({ headers, body }: { headers: Record<string, string>; body: Uint8Array }): unknown {
  const text = storable(new TextDecoder().decode(body))
  if (!/\bjson\b/i.test(headers['content-type'] ?? '')) return text
  try {
    return parseUntrustedJson(body, { large: 'text' })
  } catch {
    return text
  }
}
