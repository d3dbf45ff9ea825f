/** Guardrails: policies that check prompts, answers and tool data, and the lookup of the policy of a request. */
export { guardrailBlocked } from './errors'
export { guardrailTriggered } from './events'
export { firedBy, type Guard } from './guard'
export { type Blocked, replacementText } from './inspection'
export { createEngineOpinion, type EngineOpinion } from './second-opinion'
export { createGuardrails, type GuardrailService } from './service'
export type { HoldBack } from './streaming'
