import { AppError, defineError } from '../kernel/errors'
import { isBlank } from '../kernel/text'

/** Never sent, because the client is gone; the usage and audit rows name it as the reason. */
export const clientLeft = defineError('invalid', 'client_closed', () => 'The client closed the connection.')

export const tookTooLong = defineError(
  'timeout',
  'request_timeout',
  (seconds: number) => `This did not finish within ${seconds} s. Nothing was charged; try again, or ask for less.`,
)

/** The prompt of a request that makes something. Throws 400 `missing_prompt` when it is absent or blank (contract 6). */
export function promptIn({ prompt }: { prompt?: string | undefined }): string {
  if (prompt !== undefined && !isBlank(prompt)) return prompt
  const message = '"prompt" is missing or blank. Send a non-empty string that describes what to create.'
  throw new AppError('invalid', 'missing_prompt', message, { param: 'prompt', details: [{ path: 'prompt', message }] })
}
