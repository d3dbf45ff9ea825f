/** What is asked of a driver of speech, and what a transcription is. */

export type SpeechRequest = {
  /** The upstream's own name for the model. */
  model: string
  text: string
  /** The upstream's own name for the voice. */
  voice: string
  /** 0.25 to 4; 1 is the voice's own. */
  speed: number
  signal: AbortSignal
}

export type TranscriptionRequest = {
  model: string
  /** Path of the recording, and what its bytes are. */
  path: string
  filename: string
  mimeType: string
  /** ISO 639-1; absent, the upstream finds out. */
  language?: string | undefined
  signal: AbortSignal
}

/** A stretch of a recording, in seconds from its beginning. */
export type Segment = { start: number; end: number; text: string }

export type Transcription = {
  text: string
  /** As the upstream stated it: unchecked. */
  language: string | null
  segments: Segment[]
}
