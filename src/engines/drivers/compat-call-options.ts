import type { Clock } from '../../kernel/clock'
import type { TimeoutSettings } from './upstream-timeout'

/** How a compatible server is called, whatever it is asked for. */
export type CallOptions = TimeoutSettings & {
  /** Without what follows it, such as `/audio/speech`. */
  baseUrl: string
  apiKey: string | null
  /** Headers for every call; they are added to the default ones or replace them; names in lower case. */
  headers?: Record<string, string>
  clock: Clock
}

export const urlOf = ({ baseUrl }: CallOptions, path: string): string => baseUrl.replace(/(?<!\/)\/+$/, '') + path

export const headersOf = ({ apiKey, headers }: CallOptions): Record<string, string> => ({
  ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  ...headers,
})
