import { assembleSystem } from '../../agent'
import type { Classifier } from '../../classifier'
import type { EngineService } from '../../engines'
import type { Outbound } from '../../kernel/outbound'
import { promptTooLong } from '../errors'
import { workOf } from '../rules'
import type { Decided, Opened } from '../run'
import type { Routing } from '../schema'
import { loadImages } from './images'

type Deps = { classifier: Classifier; engines: EngineService; outbound: Outbound }

const SEES_IMAGES = new Set(['vision', 'data_extraction', 'domain_analysis'])

/** Which mode, which engine, which system prompt. Throws 400 on prompts too long and pictures that are none. */
export function createDecide({ classifier, engines, outbound }: Deps) {
  return async function decide(run: Opened): Promise<Decided> {
    const { ask } = run
    const choice = classifier.decide({
      mode: workOf(ask.mode),
      prompt: ask.prompt,
      hasImages: ask.attachments.length > 0,
    })
    const work = choice.mode
    const resolvedMode = ask.mode.startsWith('stealth_') ? ask.mode : work
    const engineId = engines.canonical(
      ask.engine ?? ask.overrides[resolvedMode] ?? ask.overrides[work] ?? engines.forMode(work),
    )
    const system = assembleSystem({ ...ask.voice, soul: run.soul, mode: work })
    const sees = SEES_IMAGES.has(work)
    const promptTokens = countPrompt(run, system, engines)
    const window = engines.window(engineId)
    // An engine without a window is one that nobody connected; asking it says so (503).
    if (window > 0 && promptTokens > window) throw promptTooLong(promptTokens, window)
    return {
      ...run,
      resolvedMode,
      engineId,
      model: engines.describe(engineId),
      modelOf: engines.describe,
      routing: routingOf(choice),
      images: sees ? await loadImages(ask.attachments, outbound, run.deadline.signal) : [],
      system,
      warnings: sees || !ask.attachments.length ? ask.warnings : [...ask.warnings, unseen(work)],
      promptTokens,
      maxOutputTokens: engines.maxOutputTokens(engineId),
    }
  }
}

const unseen = (mode: string) => `"attachments" were ignored: mode "${mode}" does not look at images. Use "vision".`

function routingOf(choice: ReturnType<Classifier['decide']>): Routing {
  const { source, confidence, reasoning } = choice
  return { source, confidence, reasoning, preference_id: null, fallback_used: false }
}

function countPrompt({ ask, history }: Opened, system: string | null, engines: EngineService): number {
  const past = history.reduce((sum, turn) => sum + engines.countTokens(turn.content), 0)
  return past + engines.countTokens(ask.prompt) + (system ? engines.countTokens(system) : 0)
}
