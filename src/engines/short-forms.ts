import { setting, type Values } from '../kernel/config'
import { form } from '../kernel/form'
import { t } from '../kernel/schema'
import type { AudioEngine } from './catalog'
import type { UpstreamConfig } from './upstream'

/** Stands for every text engine that is not named. */
export const EVERY_TEXT_ENGINE = '*'

/** Settings that connect one upstream without the long form. */
export const shortSettings = {
  engineBaseUrl: setting({
    env: 'SVC_ENGINE_BASE_URL',
    schema: t.String({
      pattern: form('^(https?://[^\\s]+)?$', 'an address that begins with https:// or http://, or empty'),
    }),
    default: '',
    about:
      'Base address of one chat-completions server that answers every text mode, such as http://127.0.0.1:8080/v1.',
  }),
  engineApiKey: setting({
    env: 'SVC_ENGINE_API_KEY',
    schema: t.String(),
    default: '',
    about: 'The key sent to SVC_ENGINE_BASE_URL as a bearer token.',
    secret: true,
  }),
  engineModel: setting({
    env: 'SVC_ENGINE_MODEL',
    schema: t.String({ minLength: 1 }),
    default: 'default',
    about: 'The model name sent to SVC_ENGINE_BASE_URL.',
  }),
  engineContextWindow: setting({
    env: 'SVC_ENGINE_CONTEXT_WINDOW',
    schema: t.Integer({ minimum: 1_000, maximum: 100_000_000 }),
    default: 128_000,
    about: 'Maximum tokens of prompt and answer together at SVC_ENGINE_BASE_URL.',
  }),
  engineMaxOutputTokens: setting({
    env: 'SVC_ENGINE_MAX_OUTPUT_TOKENS',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 4_096,
    about: 'Maximum tokens of an answer from SVC_ENGINE_BASE_URL.',
  }),
  engineTimeoutS: setting({
    env: 'SVC_ENGINE_TIMEOUT_S',
    schema: t.Number({ minimum: 0.1, maximum: 600 }),
    default: 600,
    about: 'Timeout of a call to SVC_ENGINE_BASE_URL in seconds. A request takes at most 120, a stream 600.',
  }),
  engineVision: setting({
    env: 'SVC_ENGINE_VISION',
    schema: t.Union([t.Boolean(), t.Literal('auto')]),
    default: 'auto',
    about: 'Whether SVC_ENGINE_BASE_URL accepts images; "auto" uses its model list.',
  }),
  ttsBaseUrl: setting({
    env: 'SVC_TTS_BASE_URL',
    schema: t.String({
      pattern: form('^(https?://[^\\s]+)?$', 'an address that begins with https:// or http://, or empty'),
    }),
    default: '',
    about: 'Base address of a server with /audio/speech for /audio/tts, such as http://127.0.0.1:8880/v1.',
  }),
  ttsApiKey: setting({
    env: 'SVC_TTS_API_KEY',
    schema: t.String(),
    default: '',
    about: 'The key sent to SVC_TTS_BASE_URL as a bearer token.',
    secret: true,
  }),
  ttsModel: setting({
    env: 'SVC_TTS_MODEL',
    schema: t.String({ minLength: 1 }),
    default: 'tts-1',
    about: 'The model name sent to SVC_TTS_BASE_URL.',
  }),
  sttBaseUrl: setting({
    env: 'SVC_STT_BASE_URL',
    schema: t.String({
      pattern: form('^(https?://[^\\s]+)?$', 'an address that begins with https:// or http://, or empty'),
    }),
    default: '',
    about: 'Base address of a server with /audio/transcriptions for /audio/stt, such as http://127.0.0.1:8000/v1.',
  }),
  sttApiKey: setting({
    env: 'SVC_STT_API_KEY',
    schema: t.String(),
    default: '',
    about: 'The key sent to SVC_STT_BASE_URL as a bearer token.',
    secret: true,
  }),
  sttModel: setting({
    env: 'SVC_STT_MODEL',
    schema: t.String({ minLength: 1 }),
    default: 'whisper-1',
    about: 'The model name sent to SVC_STT_BASE_URL.',
  }),
  videoBaseUrl: setting({
    env: 'SVC_VIDEO_BASE_URL',
    schema: t.String({
      pattern: form('^(https?://[^\\s]+)?$', 'an address that begins with https:// or http://, or empty'),
    }),
    default: '',
    about: 'Base address of a server with /videos, such as http://127.0.0.1:8091/v1.',
  }),
  videoApiKey: setting({
    env: 'SVC_VIDEO_API_KEY',
    schema: t.String(),
    default: '',
    about: 'The key sent to SVC_VIDEO_BASE_URL as a bearer token.',
    secret: true,
  }),
  videoModel: setting({
    env: 'SVC_VIDEO_MODEL',
    schema: t.String({ minLength: 1 }),
    default: 'default',
    about: 'The model name sent to SVC_VIDEO_BASE_URL.',
  }),
}

type ShortSettings = Values<typeof shortSettings>

type ShortForm = {
  /** Of the upstream that the settings define. */
  name: string
  engineId: typeof EVERY_TEXT_ENGINE | AudioEngine | 'svc-1-motion'
  model: string
  upstream: UpstreamConfig
}

/** The upstreams that the short settings define, and the engines they answer for. */
export function shortForms(settings: ShortSettings): ShortForm[] {
  const { engineModel, ttsBaseUrl, ttsApiKey, ttsModel, sttBaseUrl, sttApiKey, sttModel } = settings
  const { videoBaseUrl, videoApiKey, videoModel } = settings
  const forms: ShortForm[] = [
    { name: 'default', engineId: EVERY_TEXT_ENGINE, model: engineModel, upstream: textUpstream(settings) },
    { name: 'tts', engineId: 'svc-1-voice', model: ttsModel, upstream: compat(ttsBaseUrl, ttsApiKey) },
    { name: 'stt', engineId: 'svc-1-transcribe', model: sttModel, upstream: compat(sttBaseUrl, sttApiKey) },
    { name: 'video', engineId: 'svc-1-motion', model: videoModel, upstream: compat(videoBaseUrl, videoApiKey) },
  ]
  return forms.filter(({ upstream }) => upstream.baseUrl)
}

const compat = (baseUrl: string, apiKey: string): UpstreamConfig => ({ kind: 'compat', baseUrl, apiKey })

const textUpstream = (settings: ShortSettings): UpstreamConfig => ({
  kind: 'compat',
  baseUrl: settings.engineBaseUrl,
  apiKey: settings.engineApiKey,
  contextWindow: settings.engineContextWindow,
  maxOutputTokens: settings.engineMaxOutputTokens,
  ...(settings.engineTimeoutS < 600 ? { timeoutMs: Math.round(settings.engineTimeoutS * 1_000) } : {}),
  ...(settings.engineVision === 'auto' ? {} : { vision: settings.engineVision }),
})
