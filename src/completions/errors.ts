import { AppError, defineError } from '../kernel/errors'

export const emptyPromptText = () =>
  new AppError(
    'invalid',
    'validation_error',
    '"prompt" is missing or blank. Send a non-empty string, for example {"prompt":"Hello"}.',
    { param: 'prompt', details: [{ path: 'prompt', message: '"prompt" is blank.' }] },
  )

/** Chat clients know this refusal by the words "maximum context length". `param` is what is too long. */
export const promptTooLong = (tokens: number, limit: number, param = 'prompt') =>
  new AppError(
    'invalid',
    'validation_error',
    `"${param}" and what goes with it come to about ${tokens} tokens; the maximum context length of the engine is ${limit}. Shorten it or split it.`,
    { param, details: [{ path: param, message: `about ${tokens} tokens, at most ${limit}` }] },
  )

export const requestTimeout = defineError('timeout', 'request_timeout', (seconds: number, mode: string) =>
  mode === 'research' || mode === 'video'
    ? `Mode "${mode}" did not finish within ${seconds} s. Send it to POST /${mode} and read poll_url.`
    : `The answer did not finish within ${seconds} s. Try again, ask for less, or send "stream": true.`,
)

/** The prompt alone costs more than the run may cost. */
export const overBounds = defineError(
  'unpaid',
  'insufficient_credits',
  () => 'The prompt alone would cost more than the limit of this run. Nothing was charged; shorten the prompt.',
)
