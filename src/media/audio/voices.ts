/** The public names of the voices (docs/api.md 6). */
export const VOICES = ['classic', 'bright', 'storyteller', 'deep', 'warm', 'soft'] as const
export type Voice = (typeof VOICES)[number]

const PREFIX = 'svc-voice-'
export const VOICE_NAMES = VOICES.map((voice) => PREFIX + voice)

/** The voice with a name. An unknown name selects the classic voice (docs/api.md 6). */
export const voiceOf = (name: string | undefined): Voice =>
  VOICES.find((voice) => name === voice || name === PREFIX + voice) ?? 'classic'

/** Names that most servers with a speech endpoint support. An operator may configure others. */
export const UPSTREAM_VOICES: Record<Voice, string> = {
  classic: 'alloy',
  bright: 'nova',
  storyteller: 'fable',
  deep: 'onyx',
  warm: 'shimmer',
  soft: 'echo',
}

/** Settings of a voice in the local program: variant, pitch (0–99) and loudness (0–200). */
export const LOCAL_VOICES: Record<Voice, { variant: string; pitch: number; amplitude: number }> = {
  classic: { variant: '', pitch: 50, amplitude: 100 },
  bright: { variant: '+f2', pitch: 62, amplitude: 105 },
  storyteller: { variant: '+m3', pitch: 44, amplitude: 100 },
  deep: { variant: '+m7', pitch: 22, amplitude: 115 },
  warm: { variant: '+f4', pitch: 40, amplitude: 100 },
  soft: { variant: '+f5', pitch: 46, amplitude: 65 },
}
