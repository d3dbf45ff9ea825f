import { createCharging } from '../charging'
import { createBuiltinDriver, createEngines } from '../engines'
import { createEngineOpinion, createGuardrails } from '../guardrails'
import { createIllustrator, createImages, createPictures, localSpeaker } from '../media'
import { hasSearch } from '../research'
import {
  createClassifier,
  createEffective,
  createEngineClassifier,
  createExplain,
  createPreferences,
  createRoutingPreview,
  createUnbilledAdmission,
  wronglyChosenIn,
} from '../routing'
import { createBenchmarks } from '../usage'
import type { Accounts } from './container-accounts'

export type Decisions = ReturnType<typeof buildDecisions>

/** Adds the modules that decide the mode of a prompt, the engine that answers, and whether a text is allowed. */
export function buildDecisions(modules: Accounts) {
  const { config, clock, log, traces, keys, resources, engineRegistry } = modules
  const noSearch = hasSearch(config)
    ? null
    : 'no search server is set, so research reads only the addresses in a prompt'
  const engines = createEngines({
    settings: config,
    registry: engineRegistry,
    lacks: (mode) => (mode === 'research' ? noSearch : null),
    speaksHere: localSpeaker(config) !== null,
    clock,
    log,
    builtin: { ...createBuiltinDriver({ clock, habits: config }), ...createIllustrator() },
    observe: (engine, outcome, attempt) => {
      if (outcome !== 'passed over') modules.observeEngine(engine, outcome, attempt)
      const { requestId, target: name, ms, mode, error } = attempt
      if (requestId) traces.step(requestId, 'engine', name, ms, { engine, mode, outcome, error })
    },
  })
  const { bindings } = keys
  const effective = createEffective({ ...modules, bindings })
  const benchmarks = createBenchmarks({ ...modules, wronglyChosenIn })
  const opinion = createEngineOpinion({ engines, clock, chosen: config.guardrailEngine })
  const guardrails = createGuardrails({ resources, bindings, opinion, settings: config })
  const admission = createUnbilledAdmission({ ...modules, guardrails, engines })
  const routing = { ...modules, bindings, effective, engines }
  const preferences = createPreferences({ ...routing, settings: config, admit: admission.texts })
  const engineClassifier = createEngineClassifier({ engines, clock })
  const classifier = createClassifier({ engine: engineClassifier })
  const explain = createExplain({ classifier, engine: engineClassifier, clock })
  const routingPreview = createRoutingPreview({
    ...routing,
    preferences: preferences.preferences,
    explain,
    screen: guardrails.screen,
    admit: admission.prompt,
  })
  const charging = createCharging({ ...modules, guardrails, engines })
  const pictures = createPictures(engines)
  const images = createImages({ charging, engines, pictures })
  return {
    ...modules,
    engines,
    opinion,
    effective,
    benchmarks,
    guardrails,
    preferences,
    classifier,
    routingPreview,
    charging,
    pictures,
    images,
  }
}
