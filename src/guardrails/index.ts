/** Guardrails: what a policy lets in, out, and through the tools, and how it is found for a request. */
export { guardrailSettings } from './config'
export { guardrailBlocked } from './errors'
export { guardrailTriggered, type TriggeredFacts } from './events'
export type { AboutAnswer, Guard } from './guard'
export type { HoldBack } from './hold-back'
export { type Blocked, standIn } from './judge'
export { createOpinion } from './opinion'
export { createGuardrails, type GuardrailService } from './service'
