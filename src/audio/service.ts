import type { Clock } from '../kernel/clock'
import type { Values } from '../kernel/config'
import type { audioSettings } from './config'
import { createLocalSpeech } from './espeak'
import { createRecordings } from './recording'
import { createSpeech } from './speech'
import { createTranscription } from './transcription'

type Speaking = Omit<Parameters<typeof createSpeech>[0], 'recordings' | 'local' | 'names'>
type Writing = Omit<Parameters<typeof createTranscription>[0], 'recordings'>

type Deps = {
  making: Speaking['making']
  engines: Speaking['engines'] & Writing['engines']
  clock: Clock
  settings: Values<typeof audioSettings>
  /** Folder of files that are gone when their request is answered. */
  folder: string
}

export type Audio = ReturnType<typeof createAudio>

/** The path of the program that speaks where no upstream does; null where it is off or not here. */
export const localSpeaker = ({ ttsLocal }: Pick<Values<typeof audioSettings>, 'ttsLocal'>): string | null =>
  ttsLocal ? Bun.which(ttsLocal) : null

/** Speech from text and text from speech (contract 6). */
export function createAudio({ making, engines, clock, settings, folder }: Deps) {
  const recordings = createRecordings()
  const program = localSpeaker(settings)
  const local = program ? createLocalSpeech({ program, folder, clock }) : null
  return {
    speak: createSpeech({ making, engines, recordings, local, names: settings.ttsVoices }),
    transcribe: createTranscription({ making, engines, recordings }),
  }
}
