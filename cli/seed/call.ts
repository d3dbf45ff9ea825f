import { send, type Target } from '../../src/app/client'
import { replyFailure } from '../failure'

/** Calls a route of the API by its path below `/api/v1/`. @throws CommandFailed for an error */
export type Caller = <Answer = { id: string }>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<Answer>

/** Calls with a key, or with `null` as a visitor of a widget does. */
export function callerWith(target: Target, key: string | null, signal: AbortSignal): Caller {
  return async <Answer>(method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const answer = await send(target, `/api/v1/${path}`, {
      method,
      signal,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw replyFailure(answer.status, text)
    return JSON.parse(text) as Answer
  }
}
