import type { Method } from './api'
import { at } from './boot'
import { shellWord } from './command'

/** A prompt that every engine can answer, including the built-in one. */
export const FIRST_CALL = { prompt: 'What is 17 * 23?' }

/** A call of the API as a command, for a shell that has the key. */
export const curlOf = (path: string, body: object, method?: Method, key = '$SVC_API_KEY'): string =>
  `curl ${method ? `-X ${method} ` : ''}${new URL(at('/api/v1'), location.origin).href}${path} \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d ${shellWord(body)}`
