/** What is asked of a driver of videos. An upstream makes them slowly, under an id of its own. */

export type VideoRequest = {
  /** The upstream's own name for the model. */
  model: string
  /** The whole description. */
  prompt: string
  seconds: number
  /** Pixels. */
  width: number
  height: number
  /** The same for every try of one order, for upstreams that look at it. */
  key: string
  signal: AbortSignal
}

/** How far an upstream is with a video. */
export type VideoState =
  | { status: 'working'; percent: number }
  /** Seconds and pixels as the upstream stated them; null where it did not. */
  | { status: 'made'; seconds: number | null; width: number | null; height: number | null }
  /** `code` and `words` are the upstream's own, for operators. */
  | { status: 'failed'; refused: boolean; code: string; words: string }

export type VideoDriver = {
  /** Orders a video and returns its id. Throws {@link EngineFailure}; `inDoubt` tells whether it may be made all the same. */
  order(request: VideoRequest): Promise<string>
  /** Throws {@link EngineFailure}. */
  look(id: string, signal: AbortSignal): Promise<VideoState>
  /** The bytes of a video that was made, or of a still of it. Throws {@link EngineFailure}. */
  content(id: string, what: 'video' | 'thumbnail', signal: AbortSignal): AsyncGenerator<Uint8Array>
  /** Tells the upstream that nobody wants it any more. Throws {@link EngineFailure}. */
  drop(id: string, signal: AbortSignal): Promise<void>
}
