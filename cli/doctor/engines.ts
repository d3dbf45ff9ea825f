import { expectData } from '../failure'
import { type Context, type Finding, fail, hostCheck, ok, serverCheck, skip, warn } from './check'

/** Modes whose engines the server uses for its own decisions, in order of preference. */
const PREFERRED_MODES = ['auto', 'fast']

type Target = { id: string; mode: string; target: string | null; kind: string | null; rank: number; state: string }

/** The first target of every service engine. */
async function enginesOf(context: Context): Promise<Target[]> {
  return expectData(await (await context.connect()).ops().engines.get()).engines.filter(({ rank }) => rank === 1)
}

const isModel = ({ target, kind }: Target): boolean => target !== null && kind !== 'builtin'

const preferredOf = (engines: readonly Target[]): Target | undefined =>
  PREFERRED_MODES.flatMap((wanted) => engines.filter(({ mode }) => mode === wanted)).find(isModel)

/** A warning rather than a failure: requests still work, only the engine's decisions are missing. */
const findingOf = ({ target, state }: Target, without: string): Finding =>
  state === 'failing' || state === 'unreachable'
    ? warn(
        `${target} ${state === 'failing' ? 'keeps failing' : 'does not answer'}; ${without} for now`,
        'svc-admin engines test',
      )
    : ok(`${target}`)

export const guardrailEngineCheck = hostCheck('guardrail engine', ['database'], async (context) => {
  const { guardrailEngine: chosen } = context.config()
  if (chosen === 'off') return skip('off; only the local checks decide')
  const engines = await enginesOf(context)
  const preferred = preferredOf(engines)
  if (chosen === 'auto') {
    return preferred
      ? findingOf(preferred, 'only the local checks decide')
      : skip('no model is connected; only the local checks decide')
  }
  const named = engines.find(({ id }) => id === chosen)
  if (named && isModel(named)) return findingOf(named, 'only the local checks decide')
  const problem = named ? `no model answers ${chosen}` : `SVC_GUARDRAIL_ENGINE is "${chosen}", which is not an engine`
  return fail(`${problem}; only the local checks decide`, 'export SVC_GUARDRAIL_ENGINE=auto')
})

export const classifierEngineCheck = serverCheck('classifier engine', async (context) => {
  const found = preferredOf(await enginesOf(context))
  return found
    ? findingOf(found, 'only the local model decides')
    : skip('no model is connected; only the local model decides')
})

export const speechCheck = hostCheck('speech', ['config'], async (context) => {
  const upstream = upstreamOf(context, 'svc-1-voice', 'ttsBaseUrl')
  if (upstream) return ok(upstream)
  const { ttsLocal } = context.config()
  if (!ttsLocal) return skip('off; POST /audio/tts answers 503')
  const program = Bun.which(ttsLocal)
  return program
    ? ok(`${program}, on this machine`)
    : warn(`no upstream and no ${ttsLocal} here; POST /audio/tts answers 503`, 'apt-get install espeak-ng')
})

export const transcriptionCheck = hostCheck('transcription', ['config'], async (context) => {
  const upstream = upstreamOf(context, 'svc-1-transcribe', 'sttBaseUrl')
  return upstream ? ok(upstream) : skip('no upstream, set SVC_STT_BASE_URL; POST /audio/stt answers 503')
})

/** Videos made on this machine already have the mark of origin. */
export const videoMarkCheck = hostCheck('video-mark', ['config'], async (context) => {
  if (!upstreamOf(context, 'svc-1-motion', 'videoBaseUrl'))
    return skip('no upstream for videos; videos made on this machine are marked')
  const { videoMarker } = context.config()
  if (!videoMarker) return skip('off; upstream videos are stored without a mark')
  const program = Bun.which(videoMarker)
  return program
    ? ok(`${program} marks upstream videos`)
    : warn(`no ${videoMarker} here; upstream videos are stored without a mark`, 'apt-get install ffmpeg')
})

/** The first upstream of a sound or video engine: its target, or the setting with its address. */
function upstreamOf(
  context: Context,
  engineId: string,
  short: 'ttsBaseUrl' | 'sttBaseUrl' | 'videoBaseUrl',
): string | undefined {
  const { engines, [short]: address } = context.config()
  return engines.models[engineId]?.[0] ?? (address || undefined)
}
