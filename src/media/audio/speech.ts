import type { ChargingService, Work } from '../../charging'
import { type EngineService, originOf } from '../../engines'
import { type Call, ownerOf } from '../../kernel/caller'
import { AppError } from '../../kernel/errors'
import { isBlank } from '../../kernel/text'
import { missingText, ttsProviderError, ttsUnavailable } from './errors'
import type { LocalSpeech } from './espeak'
import type { Mp3Answer } from './mp3.worker.ts'
import type { Recordings } from './recording'
import { UPSTREAM_VOICES, type Voice, voiceOf } from './voices'

type Deps = {
  charging: Pick<ChargingService, 'run'>
  engines: Pick<EngineService, 'speak' | 'hasSound'>
  recordings: Recordings
  /** Null where no local program is installed. */
  local: ((request: LocalSpeech) => Promise<Mp3Answer>) | null
  /** The upstream's names of voices, where the operator set them. */
  names: Partial<Record<Voice, string>>
}

type Wanted = { text?: string | undefined; voice?: string | undefined; speed?: number | undefined }

export type Speech = { mp3: Uint8Array; costCents: number }

const ENGINE = 'svc-1-voice'
/** The fewest characters that any language takes for a minute, for the hold: what is charged is the time it took. */
const CHARS_A_MINUTE = 200

/** `POST /audio/tts` and its alias (contract 6, 28.1). */
export function createSpeech({ charging, engines, recordings, local, names }: Deps) {
  /**
   * Speaks a text, as MP3. `field` is what the request calls the text. Throws 400 `missing_text`, 502
   * `tts_provider_error`, 503 `tts_unavailable`, and what every making throws.
   */
  return async function speak(call: Call, { text = '', voice, speed = 1 }: Wanted, field = 'text'): Promise<Speech> {
    if (isBlank(text)) throw missingText(field)
    const isLocal = !engines.hasSound(ENGINE)
    if (isLocal && !local) throw ttsUnavailable.with({ retryAfterS: 60 })
    const how = { voice: voiceOf(voice), speed }
    const make = async (work: Work) => {
      const { mp3, seconds } = await spoken(call, work, work.texts[field]!, how)
      return { used: { minutes: seconds / 60 }, files: [], mp3 }
    }
    return charging.run(call, {
      kind: 'tts',
      // The header of the answer names it (contract 1.3).
      id: call.requestId,
      mode: 'tts',
      engineId: ENGINE,
      free: isLocal,
      texts: { [field]: text },
      max: { minutes: text.length / CHARS_A_MINUTE / speed },
      make,
      answer: ({ made, costCents }) => ({ mp3: made.mp3, costCents }),
    })
  }

  async function spoken(call: Call, { signal, owner }: Work, text: string, how: { voice: Voice; speed: number }) {
    try {
      if (!engines.hasSound(ENGINE)) return await local!({ text, ...how, owner, signal })
      const voice = names[how.voice] ?? UPSTREAM_VOICES[how.voice]
      const mp3 = await engines.speak({ text, voice, speed: how.speed, signal, origin: originOf(call) })
      return { mp3, seconds: await recordings.secondsOf(mp3, signal, ownerOf(call.caller)) }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof AppError && error.kind === 'invalid') throw error
      throw ttsProviderError.with({ cause: error })
    }
  }
}
