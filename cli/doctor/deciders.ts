import type { Config } from '../../src/app/config'
import { createEmbedder, engineOfMode, findEngine } from '../../src/engines'
import { createLog } from '../../src/kernel/log'
import { expectData } from '../failure'
import { type Check, type Context, type Finding, fail, ok, skip, warn } from './check'

/** Engines that are asked by the server itself, the one meant for it first. */
const ASKED_MODES = ['auto', 'fast']

type Target = { target: string | null; kind: string | null; state: 'ready' | 'trying' | 'failing' | 'none' }

/** What stands first behind one of these engines and is a model; null where there is none. */
async function firstModel(context: Context, ids: readonly (string | undefined)[]): Promise<Target | null> {
  const { engines } = expectData(await (await context.connect()).ops().engines.get())
  const first = ids.map((wanted) => engines.find(({ id, rank }) => id === wanted && rank === 1))
  return first.find((one) => one?.target && one.kind !== 'builtin') ?? null
}

const ofModes = () => ASKED_MODES.map((mode) => engineOfMode(mode)?.id)

/** It does not hold anything up, but what it would be asked goes undecided. */
const said = ({ target, state }: Target, without: string): Finding =>
  state === 'failing'
    ? warn(`${target} keeps failing; ${without} meanwhile`, 'svc-admin engines test')
    : ok(`${target}`)

/** A word that names nothing keeps a server from starting, so it is found without one. */
export const guardrailEngineCheck: Check = {
  name: 'guardrail engine',
  needs: ['config'],
  async run(context) {
    const { guardrailEngine: chosen } = context.config()
    if (chosen === 'off') return ok('off; the local checks decide alone')
    if (chosen !== 'auto' && findEngine(chosen)?.kind !== 'text')
      return fail(`SVC_GUARDRAIL_ENGINE is "${chosen}", which is no engine of text`, 'export SVC_GUARDRAIL_ENGINE=auto')
    return ok(chosen === 'auto' ? 'the one that answers short questions' : chosen)
  },
}

export const guardrailAnswersCheck: Check = {
  name: 'guardrail engine answers',
  needs: ['guardrail engine', 'database'],
  async run(context) {
    const { guardrailEngine: chosen } = context.config()
    if (chosen === 'off') return skip('off')
    const found = await firstModel(context, chosen === 'auto' ? ofModes() : [findEngine(chosen)?.id])
    if (found) return said(found, 'the local checks decide alone')
    if (chosen === 'auto') return skip('no model is connected; the local checks decide alone')
    return fail(`no model answers ${chosen}; the local checks decide alone`, 'export SVC_GUARDRAIL_ENGINE=auto')
  },
}

export const classifierEngineCheck: Check = {
  name: 'classifier engine',
  needs: ['database'],
  async run(context) {
    const found = await firstModel(context, ofModes())
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
    const problem = await problemOf(settings, context)
    return problem === null ? ok(`${url} answers`) : fail(`${url}: ${problem}`, 'export SVC_CACHE_SIMILARITY=0')
  },
}

/** Why it gave no embedding, in its own words; null when it gave one. */
async function problemOf(settings: Config, { shell }: Context): Promise<string | null> {
  let problem = 'no usable answer'
  const write = (line: string) => {
    problem = (JSON.parse(line) as { error?: string }).error ?? problem
  }
  const embed = createEmbedder({
    ...{ settings, clock: shell.clock },
    log: createLog({ level: 'warn', pretty: false, write }),
  })
  return (await embed?.(['Is anybody there?'], AbortSignal.timeout(5_000))) ? null : problem
}
