import { type Check, type Context, ok, skip, warn } from './check'

/** The first upstream of an engine of sound or of videos: its target, or the setting that names its address. */
function upstreamOf(
  context: Context,
  engineId: string,
  short: 'ttsBaseUrl' | 'sttBaseUrl' | 'videoBaseUrl',
): string | undefined {
  const { engines, [short]: address } = context.config()
  return engines.models[engineId]?.[0] ?? (address || undefined)
}

export const speechCheck: Check = {
  name: 'speech',
  needs: ['config'],
  async run(context) {
    const upstream = upstreamOf(context, 'svc-1-voice', 'ttsBaseUrl')
    if (upstream) return ok(upstream)
    const { ttsLocal } = context.config()
    if (!ttsLocal) return skip('off; POST /audio/tts answers 503')
    const program = Bun.which(ttsLocal)
    return program
      ? ok(`${program}, on this machine`)
      : warn(`no upstream and no ${ttsLocal} here; POST /audio/tts answers 503`, 'apt-get install espeak-ng')
  },
}

export const transcriptionCheck: Check = {
  name: 'transcription',
  needs: ['config'],
  async run(context) {
    const upstream = upstreamOf(context, 'svc-1-transcribe', 'sttBaseUrl')
    return upstream ? ok(upstream) : skip('no upstream, set SVC_STT_BASE_URL; POST /audio/stt answers 503')
  },
}

/** Videos that are drawn here have the mark of origin already. */
export const videoMarkCheck: Check = {
  name: 'video-mark',
  needs: ['config'],
  async run(context) {
    if (!upstreamOf(context, 'svc-1-motion', 'videoBaseUrl'))
      return skip('no upstream for videos; videos made on this machine are marked')
    const { videoMarker } = context.config()
    if (!videoMarker) return skip('off; upstream videos are stored without a mark')
    const program = Bun.which(videoMarker)
    return program
      ? ok(`${program} marks upstream videos`)
      : warn(`no ${videoMarker} here; upstream videos are stored without a mark`, 'apt-get install ffmpeg')
  },
}
