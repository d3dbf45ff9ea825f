import { fileTypeFromBuffer } from 'file-type'
import { trustedFetch } from '../../kernel/outbound'
import { type Driver, EngineFailure } from '../engine'
import { failureOfStatus } from '../failures'
import { readBytes, readText } from './compat-body'
import { type CallOptions, headersOf, urlOf } from './compat-call-options'
import { PLAIN_TIMEOUT_MS, startTimeout } from './upstream-timeout'

/** An hour at 64 kbit/s, twice over. */
const MAX_SPEECH_BYTES = 64 * 1024 * 1024

/** Speech of any server with `POST /audio/speech`. */
export function createCompatSpeech(options: CallOptions): Required<Pick<Driver, 'speak'>> {
  const { clock, timeoutMs = PLAIN_TIMEOUT_MS, silenceMs } = options
  const headers = { ...headersOf(options), 'content-type': 'application/json' }
  return {
    async speak({ model, text, voice, speed, signal }) {
      const timeout = startTimeout(signal, { clock, timeoutMs, silenceMs })
      try {
        const response = await trustedFetch(urlOf(options, '/audio/speech'), {
          method: 'POST',
          headers,
          body: JSON.stringify({ model, input: text, voice, speed, response_format: 'mp3' }),
          signal: timeout.signal,
        })
        timeout.heard()
        if (response.status !== 200) {
          const body = await readText(response, timeout)
          throw failureOfStatus(response.status, response.headers, clock.now(), body)
        }
        const bytes = await readBytes(response, timeout, MAX_SPEECH_BYTES)
        timeout.finished()
        if ((await fileTypeFromBuffer(bytes))?.mime !== 'audio/mpeg')
          throw new EngineFailure('malformed', 'the answer is no MP3')
        return bytes
      } catch (error) {
        throw timeout.explain(error)
      } finally {
        timeout.release()
      }
    },
  }
}
