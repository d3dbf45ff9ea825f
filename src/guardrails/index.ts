/** Guardrails: what a policy lets in, out, and through the tools, and how it is found for a request. */
export { guardrailBlocked } from './errors'
export { guardrailTriggered } from './events'
export type { Guard } from './guard'
export { type Blocked, standIn } from './inspection'
export { createEngineOpinion, type EngineOpinion } from './second-look'
export { createGuardrails, type GuardrailService } from './service'
export type { HoldBack } from './streaming'
