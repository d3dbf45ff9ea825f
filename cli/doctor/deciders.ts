import { send } from '../../src/app/client'
import type { Config } from '../../src/app/config'
import { expectData } from '../failure'
import { type Check, type Context, type Finding, fail, ok, skip, warn } from './check'

/** Modes whose engines the server uses for its own questions, preferred one first. */
const ASKED_MODES = ['auto', 'fast']

type Target = { id: string; mode: string; target: string | null; kind: string | null; rank: number; state: string }

/** The first target of every service engine. */
async function enginesOf(context: Context): Promise<Target[]> {
  const { engines } = expectData(await (await context.connect()).ops().engines.get())
  return engines.filter(({ rank }) => rank === 1)
}

const isModel = ({ target, kind }: Target): boolean => target !== null && kind !== 'builtin'

const askedOf = (engines: readonly Target[]): Target | undefined =>
  ASKED_MODES.flatMap((asked) => engines.filter(({ mode }) => mode === asked)).find(isModel)

/** A warning rather than a failure: requests still work, only the engine's decisions are missing. */
const said = ({ target, state }: Target, without: string): Finding =>
  state === 'failing' || state === 'unreachable'
    ? warn(
        `${target} ${state === 'failing' ? 'keeps failing' : 'does not answer'}; ${without} meanwhile`,
        'svc-admin engines test',
      )
    : ok(`${target}`)

export const guardrailEngineCheck: Check = {
  name: 'guardrail engine',
  needs: ['database'],
  async run(context) {
    const { guardrailEngine: chosen } = context.config()
    if (chosen === 'off') return skip('off; the local checks decide alone')
    const engines = await enginesOf(context)
    const asked = askedOf(engines)
    if (chosen === 'auto') {
      return asked
        ? said(asked, 'the local checks decide alone')
        : skip('no model is connected; the local checks decide alone')
    }
    const named = engines.find(({ id }) => id === chosen)
    if (named && isModel(named)) return said(named, 'the local checks decide alone')
    const problem = named ? `no model answers ${chosen}` : `SVC_GUARDRAIL_ENGINE is "${chosen}", which is no engine`
    return fail(`${problem}; the local checks decide alone`, 'export SVC_GUARDRAIL_ENGINE=auto')
  },
}

export const classifierEngineCheck: Check = {
  name: 'classifier engine',
  asksServer: true,
  needs: ['database'],
  async run(context) {
    const found = askedOf(await enginesOf(context))
    return found ? said(found, 'the local model decides alone') : skip('no model is connected; the local model decides')
  },
}

export const embeddingsCheck: Check = {
  name: 'embeddings',
  needs: ['config'],
  async run(context) {
    const settings = context.config()
    const { embeddingsBaseUrl: url, cacheSimilarity, cacheEnabled } = settings
    if (!cacheSimilarity) return skip('not used: SVC_CACHE_SIMILARITY is 0')
    if (!cacheEnabled) return warn('SVC_CACHE_SIMILARITY is set, and the cache is off', 'export SVC_CACHE_ENABLED=1')
    if (!url) {
      return fail(
        `SVC_CACHE_SIMILARITY is ${cacheSimilarity}, and there is no engine to compare prompts with`,
        'export SVC_EMBEDDINGS_BASE_URL=http://127.0.0.1:8080/v1',
      )
    }
    const problem = await problemOf(settings)
    return problem === null ? ok(`${url} answers`) : fail(`${url} ${problem}`, 'export SVC_CACHE_SIMILARITY=0')
  },
}

const TIMEOUT_MS = 5_000

/** Why the embeddings endpoint does not work; null when it does. */
async function problemOf(settings: Config): Promise<string | null> {
  const { embeddingsBaseUrl, embeddingsApiKey: key, embeddingsModel: model } = settings
  const target = { kind: 'url' as const, url: embeddingsBaseUrl.replace(/\/+$/, '') }
  const headers = { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) }
  const body = JSON.stringify({ model, input: ['Is anybody there?'], encoding_format: 'float' })
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await send(target, '/embeddings', { method: 'POST', headers, body, signal })
    if (answer.status !== 200) return `answers with status ${answer.status}`
    const { data } = (await answer.json()) as { data?: { embedding?: unknown }[] }
    return Array.isArray(data?.[0]?.embedding) ? null : 'answers with something else than embeddings'
  } catch (error) {
    return `does not answer: ${(error as Error).message}`
  }
}
